/** The start of the page that `byzanz replay FILE --html` writes. */
import { startTheme } from "./dom.js";
import { storyPage } from "./story.js";

startTheme();
document.getElementById("main")?.append(storyPage(JSON.parse(document.getElementById("story")?.textContent ?? "{}")));
