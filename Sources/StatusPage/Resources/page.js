"use strict";
const byId = id => document.getElementById(id);
const mayChange = document.body.dataset.change === "yes";
function make(tag, className, ...content) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...content.filter(part => part !== null && part !== undefined));
  return element;
}
// A text of the daemon's: what stands between back-ticks is typed at a terminal.
function words(text) {
  return text.split("`").map((part, index) => index % 2 ? make("code", "", part) : part);
}
function stop(text) { return /[.?!]$/.test(text) ? text : text + "."; }
function sentence(text) { return make("span", "", ...words(stop(text))); }
function count(number, one, many) { return number + " " + (number === 1 ? one : many); }
function span(seconds) {
  const [unit, size] = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]]
    .find(step => seconds >= step[1]) || ["second", 1];
  return count(Math.floor(seconds / size), unit, unit + "s");
}
const forms = {
  ago: past => past < 60 ? "just now" : span(past) + " ago",
  for: past => past < 60 ? "Since just now" : "For " + span(past),
  left: past => past > -1 ? "Its time is over." : "Waits for " + span(-past) + " more.",
  // To the minute.
  seen: past => past < 120 ? "seen just now" : "seen " + span(past) + " ago",
  read: past => past < 120 ? "read just now" : "read " + span(past) + " ago",
  due: past => past < 0 ? "in " + span(-past) : "now",
};
function date(text) { return new Date(text).toLocaleDateString([], {dateStyle: "long"}); }
function tick(element) {
  const text = forms[element.dataset.form]((Date.now() - new Date(element.dateTime)) / 1000);
  if (element.textContent !== text) element.textContent = text;
}
function when(text, form, className) {
  const element = make("time", className || "dim");
  element.dateTime = text;
  element.dataset.form = form;
  element.title = new Date(text).toLocaleString();
  tick(element);
  return element;
}
// What tells it from another one of the same name.
function fullName(item) {
  return item.name && item.name !== item.id ? item.name + " (" + item.id + ")" : item.id;
}
function title(item) { return item.is_alike ? fullName(item) : item.name; }
// To the page of a border router.
function link(item) {
  const element = make("a", "name", title(item));
  element.href = "#router/" + item.id;
  element.dataset.key = element.hash;
  return element;
}
// Home Assistant fetches it itself, and no proxy lets it in that wants a user.
function blueprint(name) {
  return new URL("blueprints/" + name + ".yaml", document.body.dataset.address || location.href).href;
}
const drawn = new WeakMap();
// Draws those items again that have changed, each under its key.
function update(box, items, keyOf, draw) {
  const before = new Map([...box.children].map(node => [node.dataset.item, node])), shown = new Set();
  items.forEach((item, index) => {
    const key = keyOf(item), text = JSON.stringify(item);
    let node = before.get(key);
    before.delete(key);
    if (!node || drawn.get(node) !== text) {
      const fresh = draw(item), details = fresh.querySelector("details");
      fresh.dataset.item = key;
      drawn.set(fresh, text);
      if (details && node && node.querySelector("details[open]")) details.open = true;
      if (node) node.replaceWith(fresh);
      node = fresh;
    }
    shown.add(node);
    if (box.children[index] !== node) box.insertBefore(node, box.children[index] || null);
  });
  for (const node of [...box.children]) if (!shown.has(node)) node.remove();
}
function fill(id, items, keyOf, draw) {
  const section = byId(id);
  section.hidden = items.length === 0;
  update(section.lastElementChild, items, keyOf, draw);
}
// A code that is shown this once, until its time is over or the next change is made.
function shown({code, seconds}, place) {
  const line = make("p", "shown", code);
  setTimeout(() => {
    if (!line.isConnected) return;
    place.className = "";
    place.textContent = "The time of the code is over.";
  }, seconds * 1000);
  return line;
}
// Of a code that is shown this once: the field for a part of it, which has to be typed before it counts.
function confirmation({label, path}) {
  const field = make("input", "code"), note = make("p", ""), form = make("form", "",
    make("label", "", label + " ", field), " ", make("button", "main send", "It is written down"), note);
  field.autocomplete = "off";
  field.autocapitalize = "characters";
  field.spellcheck = false;
  field.required = true;
  form.addEventListener("submit", async event => {
    event.preventDefault();
    if (!await change(path, {code: field.value}, "", note)) return field.focus();
    byId("outcome").replaceChildren(...note.childNodes);
    byId("outcome").focus();
  });
  return form;
}
// What takes a while.
const waits = {
  "/networks/join": "Waiting for the border router …",
  "/routers/read": "The border router is being read.",
};
// A second press would only be one more try of the code.
let isJoining = false;
async function change(path, body, question, place) {
  const joins = path === "/networks/join", outcome = place || byId("outcome");
  if (joins && isJoining || question && !confirm(question)) return;
  if (joins) isJoining = true;
  if (waits[path]) {
    outcome.className = "";
    outcome.textContent = waits[path];
    outcome.scrollIntoView({block: "nearest"});
  }
  try {
    const answer = await fetch("." + path, {method: "POST", credentials: "same-origin",
      headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
    const answerBody = await answer.json();
    outcome.className = answer.ok ? "good" : "bad";
    const {message} = answerBody;
    outcome.replaceChildren(sentence(message.charAt(0).toUpperCase() + message.slice(1)), " ",
      ...words(answerBody.remedy || ""), " ", ...(answerBody.choices || []).map(one => button(one.label, answerBody.message, path, {...body, ...one.with})),
      answerBody.code ? shown(answerBody, outcome) : "",
      answerBody.confirmation ? confirmation(answerBody.confirmation) : "");
    // For the keyboard: its field is the next one.
    if (answerBody.confirmation) outcome.focus();
    outcome.scrollIntoView({block: "nearest"});
    if (joins && answer.ok) joining.reset();
    return answer.ok;
  } catch {
    outcome.className = "bad";
    outcome.textContent = "The daemon does not answer.";
  } finally {
    if (joins) isJoining = false;
  }
}
// What is asked before a change that is not taken back as easily.
const questions = {
  "/networks/forget": (about, body) => "Forget that " + about + " is the preferred network of " + body.home +
    "? Then no border router is checked, until you prefer a network. It is kept in the history.",
  "/networks/keep": about => "Keep the current keys of " + about + "?",
  "/networks/prefer": (about, body) => "Make " + about + " the preferred network of " + body.home +
    "? All border routers are checked again.",
  "/routers/forget": about => "Forget " + about + "? Its stored credentials are deleted.",
};
// - question: empty: nothing is asked.
function button(label, about, path, body, className, question) {
  if (!mayChange) return "";
  const element = make("button", className || "", label);
  element.type = "button";
  // No code gets into the document that way.
  element.dataset.key = label + path + JSON.stringify({...body, code: undefined});
  element.setAttribute("aria-label", label + ": " + about);
  const asked = question === undefined ? questions[path] && questions[path](about, body) : question;
  element.addEventListener("click", () => change(path, body, asked));
  return element;
}
// How there are buttons, for whoever has none; null: there are some, or there is nothing to press.
function looksOnly(isToPress) {
  return mayChange || !isToPress ? null : make("p", "dim", ...words("For the buttons, " +
    (document.body.dataset.change === "proxy" ? "set `http.trusted_proxy_changes`, in the add-on `page_changes`." :
      "type the code of `threadkeeper page code`, or open the link of `threadkeeper page token`.")));
}
function isFault(item) { return item.fault === "critical" || item.fault === "warning"; }
// Its last 30 days.
function past(item) {
  const bar = make("div", "past", ...item.past.map(span => {
    const part = make("span", span.state);
    part.style.flexGrow = span.hours;
    return part;
  }));
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", "Last 30 days of " + fullName(item) + ": " +
    item.past_totals.map(one => one.text).join(", "));
  return [bar, make("div", "dim small", "30 days: ", ...item.past_totals.flatMap((one, index) =>
    [index ? ", " : "", make("span", "key " + one.state, one.text)]))];
}
// A router in the list of its network.
function router(home, item) {
  const body = {home, border_agent_id: item.id}, pending = item.pending;
  const mark = make("span", "dot", byId("router").content.firstElementChild.cloneNode(true));
  const label = isFault(item) ? "needs attention" : item.online ? "online" : "offline";
  const tone = item.fault === "critical" ? "bad" : isFault(item) ? "warn" : item.online ? "good" : "dim";
  const notes = (item.online || label === "offline" ? [] : ["offline"]).concat(item.notes,
    pending ? ["its network changes " + pending.what] : []);
  const remarks = make("div", "", notes.length ? make("span", tone === "good" ? "dim" : tone, notes.join(", ")) : null);
  if (pending) remarks.append(" ", when(pending.at, "due"));
  if (!item.online && item.seen) remarks.append(" ", make("span", "dim", "(", when(item.seen, "seen"), ")"));
  if (item.is_new) remarks.append(button("Accept", fullName(item), "/routers/accept", body));
  if (item.is_gone) remarks.append(button("Forget", fullName(item), "/routers/forget", body));
  return make("li", (item.online ? "" : "off ") + (isFault(item) ? "fault " : "") +
    (item.fault === "critical" ? "grave" : ""),
    mark, make("div", "", link(item), make("span", "dim small", item.make ? " " + item.make : "")),
    make("span", "state " + tone, label), remarks.childNodes.length ? remarks : null, ...past(item));
}
// On its own page.
function facts({home, network, item, offered}) {
  if (!item) return make("p", "", "No border router with this id is listed. It may be forgotten, or was reset and has " +
    "another id.");
  const named = fullName(item), body = {home, border_agent_id: item.id}, pending = item.pending;
  const fact = (name, ...content) => content.some(one => one) ?
    make("div", "part", make("dt", "", name), make("dd", "", ...content)) : null;
  // Not twice: an alert above has the buttons of its remedy.
  const offer = (label, path, isOffered) => isOffered && !offered.includes(path) ? button(label, named, path, body) : "";
  const buttons = [offer("Read now", "/routers/read", item.is_readable),
    offer("Accept", "/routers/accept", item.is_new), offer("Forget", "/routers/forget", item.is_gone),
    network.accepted ? notFine(fullName(network), {home, ext_pan_id: network.id}) : ""];
  return make("article", "card", make("dl", "",
    fact("State", make("span", item.online ? "good" : "dim", item.online ? "online" : "offline"), ", ",
      item.seen ? when(item.seen, "seen") : "seen just now"),
    fact("Remarks", item.notes.join(", ")),
    fact("Maker", item.make),
    fact("Calls itself", item.own_name),
    fact("Network", network.id ? title(network) || network.id : "none", network.channel ? ", channel " + network.channel : "",
      network.preferred ? ", preferred" : network.accepted ? ", accepted" : "",
      item.changed ? ", since " + date(item.changed) : ""),
    pending ? fact("Coming", "its network changes " + pending.what + " ", when(pending.at, "due")) : null,
    item.read ? fact("Dataset", when(item.read, "read")) : null,
    fact("Known by", item.only_seen ? "its record on the local network only" : ""),
    fact("Address", item.address),
    fact("Thread", [item.version && "version " + item.version, item.shares_by_code && "can share by code",
      item.omr && "off-mesh prefix " + item.omr].filter(one => one).join(", ")),
    fact("Id", item.id),
    fact("First seen", date(item.first_seen))), ...past(item), ...buttons, looksOnly(!offered.length));
}
// Takes back that the border routers of a network may be on it.
function notFine(named, body) {
  return button("Not fine there any more", named, "/networks/accept", {...body, accepted: false});
}
function network(home, item, heading) {
  const head = make("div", "head",
    make(heading, "", item.id ? title(item) || "Network without a name" : "Without a network"));
  if (item.preferred) head.append(make("span", "badge", "preferred"));
  else if (item.accepted) head.append(make("span", "badge", "accepted"));
  if (item.channel) head.append(make("span", "dim small", "channel " + item.channel));
  const card = make("article", "card net" + (item.preferred ? " preferred" : ""), head);
  if (item.credentials === false) card.append(make("p", "dim small", "Its credentials are not here."));
  for (const one of item.shared_by)
    card.append(make("p", "dim small", "Its credentials are shared by " + one.name + ", ",
      when(one.read, "read"), "."));
  if (item.routers.length) card.append(make("ul", "routers", ...item.routers.map(one => router(home, one))));
  else card.append(make("p", "dim", "No border router is on it."));
  if (!item.id) return card;
  const named = fullName(item), body = {home, ext_pan_id: item.id};
  const details = make("details", "", make("summary", "small", "Details"));
  details.firstElementChild.dataset.key = "details " + JSON.stringify(body);
  details.firstElementChild.setAttribute("aria-label", "Details: " + named);
  details.append(make("p", "dim small", "Extended PAN ID ", item.id));
  // What is done seldom is among the details.
  if (item.preferred)
    details.append(button("Share by code", named, "/networks/share", body),
      button("Forget", named, "/networks/forget", body));
  else {
    if (item.preferable && !item.isAsked) card.append(button("Prefer", named, "/networks/prefer", body));
    if (item.accepted) details.append(notFine(named, body));
    // What is accepted are border routers on it.
    else if (item.routers.length && !item.isAsked)
      card.append(button("It's fine there", named, "/networks/accept", {...body, accepted: true}));
  }
  card.append(details);
  return card;
}
// How safe the credentials of a home are that is protected.
function safeguards(home) {
  const fact = (name, ...content) => make("div", "part", make("dt", "", name), make("dd", "", ...content));
  return [home.key_read ? fact("Its key", when(home.key_read, "read")) : "",
    // Where no recovery code can open the store, no backup is made that way.
    !home.steps.some(step => step.name === "recovery_code") ? "" : fact("Last backup", ...known.backup ?
      [when(known.backup, "ago")] : words("none yet, so the recovery code opens nothing: `threadkeeper store backup` makes one")),
    home.matter_server ? fact("Matter server", ...words(home.matter_server)) : ""];
}
function homes(list) {
  const several = list.length > 1;
  update(byId("homes").lastElementChild, list.map(home => home.name), name => name, name =>
    make("div", "", several ? make("h3", "", "Home ", name) : null, make("div", "grid"), make("p", "dim"),
      make("dl", "card")));
  list.forEach((home, index) => {
    const box = byId("homes").lastElementChild.children[index], safe = box.lastElementChild;
    // Until one is preferred, the step asks which one it is.
    const isAsked = lacks(home, "preferred");
    update(box.querySelector(".grid"), home.networks.map(item => ({...item, isAsked})), item => item.id || "none",
      item => network(home.name, item, several ? "h4" : "h3"));
    safe.hidden = missing(home) > 0;
    safe.replaceChildren(...safeguards(home));
    safe.previousElementSibling.textContent = !home.networks.length ? "No border router is listed yet." :
      home.more ? "and " + count(home.more, "more border router", "more border routers") : "";
  });
}
function alert(item) {
  const card = make("article", "card " + item.severity, make("h3", "", sentence(item.summary)),
    make("p", "", make("strong", "", "What to do: "), ...words(item.remedy)),
    // What makes an alert silent is not what leaps to the eye, nor is another network for all.
    ...item.buttons.map((one, index) => button(one.label, one.about, one.path, one.with,
      index || one.path.startsWith("/networks/") && item.buttons.length > 1 ? "" : "main")),
    make("p", "dim small", when(item.since, "for"), known.homes.length > 1 ? ", home " + item.home : null),
    looksOnly(item.buttons.length));
  card.dataset.alert = item.name;
  return card;
}
// Homes that a test alert was sent in since the page was opened.
const tested = new Set();
// Networks that may be a person's own, the most likely first.
function candidates(home) {
  const online = item => item.routers.filter(one => one.online).length;
  return home.networks.filter(item => item.preferable && !item.accepted)
    .sort((a, b) => online(b) - online(a) || b.routers.length - a.routers.length)
    .map(item => ({id: item.id, name: title(item) || item.id, full: fullName(item),
      what: item.routers.length ? count(item.routers.length, "border router", "border routers") : "only shared"}));
}
// How a step is taken, below its sentence.
const ways = {
  preferred: item => item.networks.map((one, index) => make("div", "choice",
    make("span", "", make("strong", "", one.name), ", " + one.what),
    button("Yes", one.full, "/networks/prefer", {home: item.home, ext_pan_id: one.id}, index ? "" : "main", ""))),
  key: item => item.isHere ? [bring] : [],
  alerts: item => {
    const press = (label, path, className) => button(label, item.home, path, {home: item.home}, className);
    const address = make("a", "small", blueprint("threadkeeper-alerts"));
    address.href = address.dataset.key = address.textContent;
    return [press("Send a test", "/alerts/test", item.isSent ? "" : "main"),
      item.isSent ? press("It arrived", "/alerts/confirm", "main") : "", press("I look here", "/alerts/confirm"),
      make("p", "small dim", "To your phone: in Home Assistant, ",
        make("i", "", "Settings → Automations & scenes → Blueprints → Import blueprint"),
        ", paste this address, and make an automation from it."), address];
  },
  recovery_code: item => [button("Make one", item.text, "/keys/recovery-code", {}, "main")],
};
// A step on the way to a protected home: done, the one that is next, or a later one.
function step(item) {
  const mark = make("span", "n", item.remedy ? item.number : "\u2713");
  if (!item.remedy) {
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", "Done");
    return make("li", "done", mark, make("div", "", make("span", "name", item.text), " ",
      item.read ? when(item.read, "read") : make("span", "dim", item.fact)));
  }
  mark.setAttribute("aria-hidden", "true");
  const details = make("details", "", make("summary", "name", item.text), make("p", "", ...words(item.remedy)),
    ...(ways[item.name] ? ways[item.name](item) : []));
  details.open = item.isNext;
  details.firstElementChild.dataset.key = "step " + item.name + " " + item.home;
  const line = make("li", item.isNext ? "now" : "", mark, details);
  if (item.isNext) line.setAttribute("aria-current", "step");
  return line;
}
function protection(list) {
  const section = byId("protection"), box = section.lastElementChild;
  const lacksKey = list.find(home => lacks(home, "key"));
  // No code opens a router that is not looked for.
  const takesCodes = !known.health.some(item => item.name === "discovery" && item.state === "off");
  section.hidden = list.length === 0;
  update(box, list.map(home => home.name), name => name, name => make("article", "card",
    known.homes.length > 1 ? make("h3", "", "Home " + name) : null, make("ol", "steps"), make("div")));
  list.forEach((home, index) => {
    const next = home.steps.findIndex(one => one.remedy), card = box.children[index];
    const steps = home.steps.map((one, place) => ({...one, number: place + 1, home: home.name,
      isNext: place === next, isSent: one.name === "alerts" && tested.has(home.name),
      read: one.name === "key" && home.key_read, isHere: home === lacksKey,
      networks: one.name === "preferred" && one.remedy ? candidates(home) : []}));
    update(card.querySelector("ol"), steps, one => one.name, step);
    const isToPress = steps.some(one => one.remedy && (one.networks.length ||
      one.name === "key" && one.isHere && takesCodes || ["alerts", "recovery_code"].includes(one.name)));
    card.lastElementChild.replaceChildren(looksOnly(isToPress) || "");
  });
  // There is one field for a code: in the step, and later for another network. The way by a phone is for one's own.
  const phone = bring.lastElementChild.previousElementSibling;
  phone.hidden = !lacksKey;
  if (takesCodes === bring.classList.contains("closed")) {
    bring.classList.toggle("closed");
    phone.open = !takesCodes;
  }
  if (!lacksKey && !bring.closest("#join")) byId("join").lastElementChild.append(bring);
  byId("join").hidden = Boolean(lacksKey) || !joining || !takesCodes;
}
function lacks(home, name) { return home.steps.some(step => step.name === name && step.remedy); }
function missing(home) { return home.steps.filter(step => step.remedy).length; }
// The border routers of a home that are to be on its preferred network, and those that are.
function members(home) {
  const all = home.networks.filter(item => !item.accepted), own = all.filter(item => item.preferred);
  return {all: all.flatMap(item => item.routers), there: own.flatMap(item => item.routers).filter(one => one.online)};
}
// How safe it is, in a sentence, where nothing is wrong.
function safety() {
  const several = known.homes.length > 1, home = known.homes.find(missing);
  if (home) return (home.protection === "watching" ? "Watching " : "Not protecting ") +
    (several ? "the home " + home.name : "your home") + (home.protection === "watching" ? ": " : " yet: ") +
    (home.steps.length - missing(home)) + " of " + home.steps.length + " steps are done.";
  if (several) return "The keys of all homes are safe here.";
  const {all, there} = members(known.homes[0]), own = known.homes[0].networks.find(item => item.preferred);
  if (!own) return "Your home's key is safe here.";
  const fine = known.homes[0].networks.filter(item => item.accepted).flatMap(item => item.routers).length;
  const elsewhere = fine ? " " + count(fine, "other one is", "other ones are") + " fine elsewhere." : "";
  const name = own.name || own.id;
  return there.length < all.length ? there.length + " of " + count(all.length, "border router", "border routers") +
    " can be seen on " + name + " now." + elsewhere + " Your home's key is safe here." :
    "Your home's key is safe here. " + there.length + " of " + all.length + " border routers are on " + name + "." +
    elsewhere;
}
function asking(item) {
  if (item.change) return "A change in the store of " + item.requester + ": " + item.networks.join(", ");
  const what = "the credentials of " + item.networks.join(", ");
  return item.offers ? item.requester + " has " + what + ". Use them?" : item.requester + " asks for " + what + ".";
}
function consent(item) {
  const whose = item.requester + (item.fingerprint ? ", key " + item.fingerprint : "");
  return make("article", "card ask",
    make("h3", "", asking(item)),
    item.router && !item.change ? make("p", "", "For the border router ", item.router, ".") : null,
    make("p", "", sentence(item.reason)),
    item.fingerprint ? make("p", "dim small", "Fingerprint of its key: ", item.fingerprint) : null,
    make("p", "small", when(item.expires, "left")),
    button(item.change || (item.offers ? "Use them" : "Approve once"), item.requester, "/consent/approve",
      {id: item.id}, "main"),
    item.offers || item.change ? null : button("Approve always", item.requester, "/consent/approve",
      {id: item.id, always: true}, "", "Let " + whose + " have these credentials from now on, without asking again?"),
    button("Deny", item.requester, "/consent/deny", {id: item.id}),
    looksOnly(true));
}
// An alert that is over.
function over(item) {
  return make("li", "", when(item.at, "ago", "dim small"), make("span", "", ...words(stop(item.text)),
    make("span", "dim", " It lasted " + span(Math.max(1, (new Date(item.at) - new Date(item.since)) / 1000)) + ".")));
}
const parts = {broker: "MQTT broker", intake: "Events", store: "Store", discovery: "Local network"};
function part(item) {
  const tone = item.state === "bad" ? "bad" : item.state === "off" ? "dim" : "";
  return make("div", "part", make("dt", "", parts[item.name] || item.name),
    make("dd", tone, ...words(item.remedy ? stop(item.text) + " " + item.remedy : item.text)));
}
function event(item) {
  return make("li", "", when(item.at, "ago", "dim small"), sentence(item.text));
}
// How credentials come here.
const bring = byId("bring"), joining = bring.querySelector("form");
if (joining) joining.addEventListener("submit", event => {
  event.preventDefault();
  change("/networks/join", {code: joining.elements.code.value});
});
const renaming = byId("rename");
if (renaming) renaming.addEventListener("submit", async event => {
  event.preventDefault();
  const field = renaming.elements.name, {home, item} = find(wanted());
  if (!await change("/routers/rename", {home, border_agent_id: item.id, name: field.value})) return field.focus();
  field.defaultValue = field.value;
  renaming.reset();
});
let known;
// The border router whose page the address asks for; "": the page of all.
function wanted() { return (/^#router\/([0-9a-f]+)$/.exec(location.hash) || ["", ""])[1]; }
function find(id) {
  for (const {name, networks} of known.homes) for (const {routers, ...network} of networks) {
    const item = routers.find(one => one.id === id);
    if (item) return {home: name, network, item};
  }
  return {};
}
function showRouter() {
  const id = wanted(), found = find(id), {home, item} = found;
  byId("one").hidden = !id;
  document.body.dataset.view = id ? "router" : "home";
  const alerts = known.alerts.filter(one => item && one.router === id && one.home === home);
  const offered = alerts.flatMap(one => one.buttons.map(button => button.path));
  fill("one-alerts", alerts, one => one.id, alert);
  fill("one-facts", id ? [{...found, offered}] : [], () => id, facts);
  fill("one-ended", known.ended.filter(one => item && one.router === id), one => one.at + one.text, over);
  const name = id && (item ? title(item) : "Border router " + id), heading = byId("h-one");
  if (heading.textContent !== name) heading.textContent = name;
  document.title = (name ? name + " – " : "") + "threadkeeper";
  if (!renaming) return;
  renaming.hidden = !item;
  if (!item) return;
  // What is being typed stays.
  renaming.elements.name.defaultValue = item.name === item.id ? "" : item.name;
  renaming.elements.name.placeholder = item.own_name || item.name;
}
// The focus follows to the page that is opened.
function go() {
  if (!known) return;
  const left = byId("one").dataset.id;
  byId("one").dataset.id = wanted();
  if (renaming) renaming.reset();
  show();
  if (wanted()) {
    scrollTo(0, 0);
    byId("h-one").focus({preventScroll: true});
  } else ([...document.querySelectorAll("main a")].find(one => one.dataset.key === "#router/" + left) || byId("main")).focus();
}
addEventListener("hashchange", go);
byId("h-one").tabIndex = -1;
document.querySelector(".skip").addEventListener("click", event => {
  event.preventDefault();
  byId("main").focus();
});
// The timer of a button that is pressed; 0: none is.
let pressed = 0;
let isDue = false;
// Why the border routers of a home are not checked, or not by keys; "": they are.
function whyUnchecked(home) {
  const named = known.homes.length > 1 ? " in the home " + home.name : "";
  const preferred = home.networks.find(item => item.preferred);
  if (home.networks.every(item => !item.routers.length))
    return "No border router is listed yet" + named + ", so nothing is guarded.";
  if (home.undecided) return "Border routers are on several networks" + named + " and none is preferred, " +
    "so none of them is checked.";
  if (!preferred) return "No network is preferred" + named + ", so no border router is checked.";
  return preferred.credentials ? "" : "The credentials of the preferred network " +
    (preferred.name || preferred.id) + " are not here" + named +
    ", so border routers are checked by its Extended PAN ID alone.";
}
// The colour and the words of the worst that is true; the rest is counted. It is green where nothing is to be done:
// notices have it in no colour, unless they are news alone.
function verdict(wrong, waiting, notices, news, open) {
  const asked = waiting.map(asking), safe = safety(), unsafe = known.homes.find(missing);
  const lead = [...wrong.map(item => item.text), ...asked, ...(unsafe ? [safe] : []), ...open, ...notices, safe][0];
  const rest = open.filter(text => text !== lead), isNotice = lead === notices[0];
  if (unsafe && lead !== safe) rest.unshift(safe);
  if (wrong.length > 1) rest.push(count(wrong.length - 1, "more thing is", "more things are") + " wrong.");
  if (wrong.length && asked.length || asked.length > 1) rest.push(
    count(asked.length, "request waits", "requests wait") + " for your consent.");
  if (isNotice) rest.push(safe);
  const worth = notices.length + news - (isNotice ? 1 : 0), more = isNotice ? "more " : "";
  if (worth) rest.push(count(worth, more + "thing is", more + "things are") + " worth knowing.");
  const isCalm = !asked.length && !unsafe && !open.length && !notices.length &&
    known.homes.every(home => members(home).all.length === members(home).there.length);
  const box = byId("verdict"), text = lead + " " + rest.join(" ");
  box.className = wrong.length ? wrong[0].tone : isCalm ? "good" : "";
  box.firstElementChild.dataset.sign = asked.length ? "?" : unsafe ? unsafe.steps.length - missing(unsafe) : "i";
  // A screen reader reads it whenever it is set.
  if (box.dataset.text === text) return;
  box.dataset.text = text;
  box.lastElementChild.replaceChildren(make("p", "lead", ...words(lead)),
    rest.length ? make("p", "", rest.join(" ")) : "");
}
// Whether a step of a home that is not protected asks the same.
function isStep(item) {
  const name = {TestAlert: "alerts", NoPreferredNetwork: "preferred"}[item.name];
  return known.homes.some(home => home.name === item.home && lacks(home, name));
}
function show() {
  isDue = pressed !== 0;
  if (isDue) return;
  const before = document.activeElement, key = before.dataset.key, section = before.closest("section");
  const alerts = known.alerts.filter(item => !isStep(item));
  const of = severity => alerts.filter(item => item.severity === severity && item.name !== "TestAlert");
  const named = (items, tone) => items.map(item => ({text: stop(item.summary), tone}));
  // The step has what is wrong with the search, and its remedy.
  const isFirst = known.homes.some(home => lacks(home, "routers"));
  const broken = known.health.filter(item => item.state === "bad" && !(isFirst && item.name === "discovery"))
    .map(item => ({text: stop(parts[item.name] + ": " + item.text), tone: "bad"}));
  if (!byId("away").hidden) broken.unshift({text: "This page is not up to date.", tone: "bad"});
  // Of any other severity, also one that is not known, and tests.
  const notices = alerts.filter(item => !of("critical").includes(item) && !of("warning").includes(item));
  // No notice: it reports a change.
  const news = notices.filter(item => item.name === "PreferredNetworkChanged");
  // Also while the alert about it is held.
  const open = known.homes.filter(home => !of("warning").some(
    item => item.name === "NoPreferredNetwork" && item.home === home.name)).map(whyUnchecked).filter(text => text);
  verdict([...named(of("critical"), "bad"), ...broken, ...named(of("warning"), "warn")], known.consents,
    notices.filter(item => !news.includes(item)).map(item => stop(item.summary)), news.length, open);
  fill("consents", known.consents, item => item.id, consent);
  fill("alerts", alerts.filter(item => !notices.includes(item)), item => item.id, alert);
  fill("notices", notices, item => item.id, alert);
  fill("ended", known.ended, item => item.at + item.text, over);
  for (const item of known.alerts) if (item.name === "TestAlert") tested.add(item.home);
  protection(known.homes.filter(missing));
  homes(known.homes);
  showRouter();
  byId("health").lastElementChild.firstElementChild.replaceChildren(...known.health.map(part));
  byId("events").lastElementChild.replaceChildren(known.events.length ?
    make("ul", "events", ...known.events.map(event)) : make("p", "dim", "Nothing yet."));
  byId("version").textContent = "threadkeeper " + known.version;
  document.body.dataset.ready = "yes";
  if (!key || document.activeElement === before) return;
  // An alert and a network can have the same button.
  const again = [...document.querySelectorAll("main button, main summary, main a, main input")]
    .filter(one => one.dataset.key === key);
  const same = again.find(one => section && section.contains(one)) || again[0];
  if (same) same.focus({preventScroll: true});
  if (document.activeElement !== same) byId("main").focus({preventScroll: true});
}
function take(text) {
  const opensRouter = !known && wanted();
  known = JSON.parse(text);
  if (opensRouter) go(); else show();
}
// A button that is replaced between press and release is not clicked.
function release() {
  clearTimeout(pressed);
  pressed = 0;
  if (isDue) setTimeout(show);
}
addEventListener("pointerdown", event => {
  if (!event.isPrimary || event.button !== 0 || !event.target.closest("button, summary, a")) return;
  clearTimeout(pressed);
  // Not every press ends with an event that says so.
  pressed = setTimeout(release, 3000);
});
for (const name of ["pointerup", "pointercancel", "contextmenu", "dragend", "blur", "visibilitychange"])
  addEventListener(name, release);
let last = byId("first").textContent;
if (last) take(last);
// What is shown may be old: no headline is green then.
function setAway(isAway) {
  if (byId("away").hidden !== isAway) return;
  byId("away").hidden = !isAway;
  if (known) show();
}
const source = new EventSource("./events");
source.addEventListener("state", message => {
  setAway(false);
  if (message.data === last) return;
  last = message.data;
  take(last);
});
source.addEventListener("error", async () => {
  setAway(true);
  if (source.readyState !== EventSource.CLOSED) return;
  // The browser gives up after an answer that is no stream: too many viewers, another token, or a proxy whose
  // daemon is away.
  // Not HEAD, which not every proxy passes on.
  const {ok, status, body} = await fetch("./").catch(() => ({ok: false, status: 0}));
  if (body) body.cancel();
  // Loaded again, the page says what it needs.
  if (status === 401) return location.reload();
  if (ok) byId("away").textContent = "The page does not follow: too many pages are open. It tries again in half a minute.";
  setTimeout(() => location.reload(), ok ? 30000 : 5000);
});
for (const one of document.querySelectorAll("[data-blueprint]")) one.textContent = blueprint(one.dataset.blueprint);
// The times on it go on.
setInterval(() => document.querySelectorAll("time").forEach(tick), 5000);
