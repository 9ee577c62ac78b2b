"use strict";
/* What the page can do beyond being read: switch mechanisms on and off, sort tables, open what a link names. */

(() => {
  const header = document.querySelector("header.banner");
  const control = document.getElementById("mechanisms");

  /* The sticky banner is as high as its text needs; links and the switch stop below it. */
  const measure = () => document.documentElement.style.setProperty("--banner", `${header.offsetHeight}px`);
  new ResizeObserver(measure).observe(header);
  measure();

  const show = (name, visible) => {
    for (const element of document.querySelectorAll(`[data-mechanism="${CSS.escape(name)}"]`)) {
      element.toggleAttribute("hidden", !visible);
    }
  };

  /* Beside the text there is room for both; above the text they would stand before the answer. */
  const wide = window.matchMedia("(min-width: 70em)");
  const fit = () => {
    for (const fold of document.querySelectorAll("#contents > details, #mechanisms")) fold.open = wide.matches;
  };
  wide.addEventListener("change", fit);
  fit();

  if (control) {
    control.hidden = false;
    const boxes = [...control.querySelectorAll("input")];
    /* What is hidden is part of the address, so that a link or a bookmark shows the same. */
    const change = (wanted) => {
      for (const box of boxes) {
        box.checked = wanted(box);
        show(box.value, box.checked);
      }
      const address = new URL(location.href);
      const hidden = boxes.filter((box) => !box.checked).map((box) => box.value);
      if (hidden.length) address.searchParams.set("hide", hidden.join(" "));
      else address.searchParams.delete("hide");
      if (address.href !== location.href) history.replaceState(null, "", address);
    };
    const asked = (new URLSearchParams(location.search).get("hide") || "").split(" ");
    change((box) => !asked.includes(box.value));
    for (const box of boxes) box.addEventListener("change", () => change((each) => each.checked));
    for (const button of control.querySelectorAll("button")) {
      button.addEventListener("click", () => change(() => button.value === "all"));
    }
  }

  /* What a cell is sorted by: a number, also where it is written as text (3.3e-8, ~0.5), or words, or null. */
  const worth = (cell) => {
    const text = cell.dataset.value ?? cell.textContent;
    if (text === "" || text === "–") return null;
    const digits = text.replace(/^[~<≈≤≥]|,| %$/g, "").replace("−", "-");
    return Number.isNaN(Number(digits)) ? text : Number(digits);
  };

  /* Numbers come before words, and what is missing comes last in both directions. */
  const compare = (one, other, direction) => {
    const [left, right] = [worth(one), worth(other)];
    if (left === null || right === null) return (left === null) - (right === null);
    if (typeof left !== typeof right) return direction * (typeof left === "number" ? -1 : 1);
    if (typeof left === "number") return direction * (left - right || 0);
    return direction * left.localeCompare(right, "en", { numeric: true });
  };

  const sort = (table, heads, column) => {
    const ascending = heads[column].getAttribute("aria-sort") !== "ascending";
    for (const body of table.tBodies) {
      const rows = [...body.rows].filter((row) => !row.classList.contains("group"));
      rows.sort((one, other) => compare(one.cells[column], other.cells[column], ascending ? 1 : -1));
      body.append(...rows);
    }
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[column].setAttribute("aria-sort", ascending ? "ascending" : "descending");
  };

  for (const table of document.querySelectorAll("figure.table table")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.addEventListener("click", () => sort(table, heads, column));
    });
  }

  /* A link to what is folded is a wish to see it. */
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target) return;
    const inside = target.querySelector(":scope > details");
    if (inside) inside.open = true;
    for (let at = target.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", unfold);
  unfold();
})();
