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

/** @param {string} name @param {any} [content] @returns {Promise<any>} */
export async function ask(name, content = {}) {
  let answer;
  try {
    answer = await fetch(`/api/${name}`, {
      method: "POST", headers: { "content-type": "application/json", "x-byzanz-secret": secret }, body: JSON.stringify(content),
    });
  } catch {
    throw new Refused(0, "the server does not answer; is byzanz web still running?");
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, body.error ?? "the server did not understand");
  return body;
}
