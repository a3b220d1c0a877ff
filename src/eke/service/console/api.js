// The only way to the server: JSON in, JSON out, failures as errors with the server's reason.
let csrf = null;

export class Problem extends Error {
  constructor(status, document) {
    super(document.message ?? `the server answered ${status}`);
    this.status = status;
    this.document = document;
  }
}

export function remember(token) { csrf = token; }

// Sends a body under a key, the same one until it came through: sent twice, it is charged once.
export function keyed(method, path) {
  let text = null, key = null;
  return async (body) => {
    if (JSON.stringify(body) !== text) {
      text = JSON.stringify(body);
      key = `console-${Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
    }
    const found = await call(method, path, body, key);
    text = null;
    return found;
  };
}

export async function call(method, path, body, key) {
  const headers = { Accept: "application/json" };
  if (key !== undefined) headers["Idempotency-Key"] = key;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (csrf !== null && method !== "GET") headers["X-CSRF-Token"] = csrf;
  let response;
  try {
    response = await fetch(path, {
      method, headers, credentials: "same-origin",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Problem(0, { message: "the server cannot be reached" });
  }
  const text = await response.text();
  const document = text ? JSON.parse(text) : {};
  if (!response.ok) throw new Problem(response.status, document);
  return document;
}

export const of = (dataset, rest = "") => `/api/v1/datasets/${encodeURIComponent(dataset)}${rest}`;
