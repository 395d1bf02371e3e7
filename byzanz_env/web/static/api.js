/** Requests to our own server: JSON over POST, with the secret of the page. */

const secret = document.querySelector('meta[name="byzanz-secret"]')?.getAttribute("content") ?? "";

/** What the server refused, in its words. */
export class Refused extends Error {
  /** @param {number} status @param {string} reason */
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

/** @param {string} name @param {any} [content] @param {number} [patience] tries left when asked too often @returns {Promise<any>} */
export async function ask(name, content = {}, patience = 5) {
  let answer;
  try {
    answer = await fetch(`/api/${name}`, {
      method: "POST", headers: { "content-type": "application/json", "x-byzanz-secret": secret }, body: JSON.stringify(content),
    });
  } catch {
    throw new Refused(0, "the server does not answer; is byzanz web still running?");
  }
  if (answer.status === 429 && patience > 0) {
    await new Promise((resolve) => setTimeout(resolve, 400));
    return ask(name, content, patience - 1);
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, body.error ?? "the server did not understand");
  return body;
}
