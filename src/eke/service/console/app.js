// The frame: who is signed in, which dataset is looked at, which page is shown.
import { call, remember } from "./api.js";
import { el, failure } from "./dom.js";
import { askPage } from "./ask.js";
import { budgetPage, historyPage } from "./look.js";
import { accountsPage, datasetsPage, ledgerPage } from "./curate.js";
import { sendByKeyboard } from "./form.js";
import { outsidePage } from "./outside.js";
import { publicationsPage } from "./publish.js";
import { releasePage } from "./release.js";
import { signInPage } from "./sign-in.js";

const PAGES = [
  { name: "ask", title: "Ask", show: askPage, roles: ["analyst", "curator", "auditor"], data: true },
  { name: "release", title: "Release", show: releasePage, roles: ["analyst", "curator", "auditor"], data: true },
  { name: "publications", title: "Publications", show: publicationsPage, roles: ["analyst", "curator", "auditor"], data: true },
  { name: "history", title: "History", show: historyPage, roles: ["analyst", "curator", "auditor"], data: true },
  { name: "outside", title: "Outside", show: outsidePage, roles: ["analyst", "curator", "auditor"], data: true },
  { name: "budget", title: "Budget", show: budgetPage, roles: ["analyst", "curator", "auditor"], data: true },
  { name: "ledger", title: "Ledger", show: ledgerPage, roles: ["curator", "auditor"], data: true },
  { name: "datasets", title: "Datasets", show: datasetsPage, roles: ["curator"] },
  { name: "accounts", title: "Analysts", show: accountsPage, roles: ["curator"] },
];
let turn = 0; // of showing a page: one that was overtaken by another is dropped
let drawn = null; // the page that is there, once it is
const state = { me: null, datasets: [], dataset: null };
const main = document.getElementById("main");
const pick = document.getElementById("dataset");

async function start() {
  const own = (turn += 1); // whatever is still being shown belongs to somebody who left
  drawn = null;
  state.me = null; // until all is there: a page that is drawn twice loses what was written on it
  const me = await call("GET", "/api/v1/session").catch(() => null);
  if (own !== turn) return;
  if (me === null) {
    document.getElementById("top").hidden = true;
    main.replaceChildren(signInPage(start));
    main.querySelector("input").focus();
    return;
  }
  remember(me.csrf);
  await loadDatasets();
  if (own !== turn) return;
  state.me = me;
  document.getElementById("top").hidden = false;
  document.getElementById("who").textContent = `${me.name}, ${me.role}`;
  await show();
}

async function loadDatasets(chosen) {
  state.datasets = (await call("GET", "/api/v1/datasets")).datasets;
  const names = state.datasets.map((one) => one.name);
  state.dataset = chosen ?? (names.includes(state.dataset) ? state.dataset : names[0] ?? null);
  pick.parentElement.hidden = !names.length;
  pick.replaceChildren(...names.map((name) => el("option", { value: name, selected: name === state.dataset }, name)));
}

function allowed() {
  return PAGES.filter((page) => page.roles.includes(state.me.role));
}

function wantedPage() {
  const wanted = location.hash.slice(2), pages = allowed();
  const page = pages.find((one) => one.name === wanted) ?? pages[0];
  return page.data && state.dataset === null ? pages.find((one) => !one.data) ?? page : page;
}

async function show() {
  if (state.me === null) return;
  const own = (turn += 1);
  drawn = null;
  const pages = allowed(), page = wantedPage();
  const nav = document.getElementById("nav"), shown = [...nav.children].map((one) => one.getAttribute("href"));
  if (pages.some((one, i) => shown[i] !== `#/${one.name}`) || shown.length !== pages.length) {
    nav.replaceChildren(...pages.map((one) => el("a", { href: `#/${one.name}` }, one.title)));
  }
  pages.forEach((one, i) => { // the links stay: a click on one that is replaced meanwhile would be lost
    if (one === page) nav.children[i].setAttribute("aria-current", "page");
    else nav.children[i].removeAttribute("aria-current");
  });
  document.title = `${page.title} · eke`;
  if (page.data && state.dataset === null) {
    main.replaceChildren(el("p", {}, "There is no dataset that you may see yet. A curator can give you one."));
    return;
  }
  try {
    const made = await page.show({ ...state, reload: loadDatasets, again: show });
    if (own !== turn) return;
    main.replaceChildren(...[made].flat());
    drawn = page;
  } catch (problem) {
    if (own !== turn) return;
    if (problem.status === 401) { await start(); return; }
    main.replaceChildren(failure(problem));
  }
}

pick.addEventListener("change", () => { state.dataset = pick.value; show(); });
window.addEventListener("hashchange", async () => {
  if (state.me === null) return; // the form to sign in keeps the focus
  if (drawn === wantedPage()) { main.focus(); return; } // under another address: nothing that was written is lost
  const own = turn + 1;
  await show();
  if (own === turn) main.focus(); // on a later page somebody may be writing already
});
document.getElementById("sign-out").addEventListener("click", async () => {
  await call("DELETE", "/api/v1/session");
  remember(null);
  start();
});
document.addEventListener("keydown", sendByKeyboard);
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
start();
