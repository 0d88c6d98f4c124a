// Keys, live search, copying, dragging over the histogram. Every page works without it.
"use strict";
const typing = (target) => target.closest("input, textarea, select") !== null;

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  navigator.clipboard.writeText(button.parentElement.querySelector("code, pre").textContent).then(() => {
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit], [data-filter] select")) event.target.form.submit();
});

// review: s, d, u, k, z press the buttons; escape leaves a field
const KEYS = { s: "same", d: "different", u: "unsure", k: "skip", z: "undo" };
let sent = false;
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-review]")) return;
  if (sent) event.preventDefault(); // a key held down decides once
  sent = true;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && typing(event.target)) event.target.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const form = document.querySelector("[data-review]");
  const button = form && KEYS[event.key] && form.querySelector(`button[value="${KEYS[event.key]}"]`);
  if (button) { event.preventDefault(); form.requestSubmit(button); return; }
  if (event.key === "n") document.querySelector("a[rel=next]")?.click();
  if (event.key === "/") { event.preventDefault(); document.querySelector("input[name=q], textarea[name=q]")?.focus(); }
  if (event.key === "j" || event.key === "ArrowDown" || event.key === "ArrowUp") {
    const items = [...document.querySelectorAll("a.item")];
    if (!items.length) return;
    event.preventDefault();
    const place = items.indexOf(document.activeElement) + (event.key === "ArrowUp" ? -1 : 1);
    items[Math.min(Math.max(place, 0), items.length - 1)].focus();
  }
});

// search: ask again when typing has stopped; only the last answer counts
const live = document.querySelector("form[data-live]");
if (live) {
  let timer, asked = 0;
  live.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const number = ++asked;
      const query = new URLSearchParams(new FormData(live));
      const answer = await fetch(`${live.dataset.live}?${query}`);
      const text = await answer.text();
      if (number !== asked) return;
      const part = new DOMParser().parseFromString(text, "text/html");
      document.getElementById("live").replaceChildren(...(part.querySelector("main") || part.body).childNodes);
      if (query.toString().length < 2000) history.replaceState(null, "", `${live.getAttribute("action")}?${query}`);
    }, 250);
  });
}

// duplicates: a range of scores by dragging
const area = document.querySelector("[data-drag]");
if (area) {
  let start = null;
  const at = (event) => {
    const box = area.getBoundingClientRect();
    return Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
  };
  const show = (a, b) => {
    const bars = area.querySelectorAll("rect.bar");
    bars.forEach((bar, place) => {
      const out = (place + 1) / bars.length <= a || place / bars.length >= b;
      bar.classList.toggle("out", out);
    });
  };
  area.addEventListener("pointerdown", (event) => { start = at(event); area.setPointerCapture(event.pointerId); event.preventDefault(); });
  area.addEventListener("pointermove", (event) => { if (start !== null) show(...[start, at(event)].sort((a, b) => a - b)); });
  area.addEventListener("pointerup", (event) => {
    if (start === null) return;
    const [low, high] = [start, at(event)].sort((a, b) => a - b);
    start = null;
    const form = area.closest("form");
    const steps = 40;
    form.elements.low.value = Math.floor(low * steps) / steps;
    form.elements.high.value = Math.ceil(high * steps) / steps;
    form.submit();
  });
}

// figures of a whole table that were still being counted: look again for them, and leave the rest of the page alone
const again = async (left) => {
  const waiting = [...document.querySelectorAll("[data-again]")].map((one) => one.closest("[id]"));
  if (!waiting.length || !left) return;
  const answer = await fetch(location.href);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of waiting) {
    const found = page.getElementById(part.id);
    if (found) part.replaceWith(found);
  }
  setTimeout(again, 2000, left - 1);
};
setTimeout(again, 1000, 100);
