"use strict";
/* What the page can do beyond being read: switch mechanisms on and off, sort tables, unfold them for print. */

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

  if (control) {
    control.hidden = false;
    /* Beside the text there is room for it; above the text it would cover what it switches. */
    const wide = window.matchMedia("(min-width: 70em)");
    const fit = () => {
      control.open = wide.matches;
    };
    wide.addEventListener("change", fit);
    fit();
    const boxes = [...control.querySelectorAll("input")];
    for (const box of boxes) box.addEventListener("change", () => show(box.value, box.checked));
    for (const button of control.querySelectorAll("button")) {
      button.addEventListener("click", () => {
        for (const box of boxes) {
          box.checked = button.value === "all";
          show(box.value, box.checked);
        }
      });
    }
  }

  /* Numbers come before words, and what is missing comes last in both directions. */
  const compare = (one, other, direction) => {
    const [left, right] = [one.dataset.value, other.dataset.value];
    if (left === "" || right === "") return (left === "") - (right === "");
    if (left !== undefined && right !== undefined) return direction * (Number(left) - Number(right) || 0);
    if (left !== undefined || right !== undefined) return direction * ((left === undefined) - (right === undefined));
    return direction * one.textContent.localeCompare(other.textContent, "en", { numeric: true });
  };

  const sort = (table, heads, column) => {
    const ascending = heads[column].getAttribute("aria-sort") !== "ascending";
    const body = table.tBodies[0];
    const rows = [...body.rows];
    rows.sort((one, other) => compare(one.cells[column], other.cells[column], ascending ? 1 : -1));
    body.append(...rows);
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

  /* Paper cannot be unfolded. */
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("figure.table details:not([open])")];
    for (const details of folded) details.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
  });

  /* A link to a folded table is a wish to see it. */
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const details = target && target.querySelector(":scope > details");
    if (details) details.open = true;
  };
  window.addEventListener("hashchange", unfold);
  unfold();
})();
