// Elements are made here and nowhere else: what comes from a scenario becomes text, never markup.

type Child = Node | string | null | undefined | false;
type Properties = Record<string, unknown>;

function fill<E extends Element>(element: E, properties: Properties, children: Child[]): E {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), properties, children);
}

export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

export function button(label: string, title: string, action: () => void): HTMLButtonElement {
  return h("button", { type: "button", title, "aria-label": title, onclick: action }, label);
}

/// A part of the page with a heading that the navigation finds.
export function section(id: string, title: string, lead: string, ...children: Child[]): HTMLElement {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    lead ? h("p", { class: "lead" }, lead) : null,
    ...children,
  );
}

export function table(head: string[], rows: Child[][], numbersFrom = 1): HTMLElement {
  const kind = (column: number) => (column >= numbersFrom ? "number" : undefined);
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": head.join(", ") },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...head.map((text, i) => h("th", { class: kind(i), scope: "col" }, text)))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((cell, i) => h("td", { class: kind(i) }, cell))))),
    ),
  );
}
