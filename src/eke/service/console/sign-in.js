import { call, remember } from "./api.js";
import { el, failure, field } from "./dom.js";

export function signInPage(done) {
  const token = el("input", { type: "password", name: "token", autocomplete: "current-password", required: true, maxlength: "200" });
  const trouble = el("div", {});
  const form = el("form", { class: "card narrow" },
    el("h1", {}, "Sign in to eke"),
    el("p", { class: "quiet" }, "With the token that a curator gave you. It begins with eke_."),
    field("Token", token), trouble, el("button", {}, "Sign in"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      remember((await call("POST", "/api/v1/session", { token: token.value })).csrf);
      await done();
    } catch (problem) {
      trouble.replaceChildren(failure(problem));
      token.select();
    }
  });
  return form;
}
