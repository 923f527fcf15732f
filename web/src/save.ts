import { button, h } from "./dom";
import { onPaper } from "./theme";

function download(name: string, content: Blob): void {
  const link = h("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export function svgText(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.setAttribute("font-family", "system-ui, sans-serif");
  return onPaper(new XMLSerializer().serializeToString(copy));
}

/// The picture at twice its size, on white.
async function asPng(svg: string): Promise<Blob> {
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await picture.decode();
  const canvas = h("canvas", { width: 2 * picture.naturalWidth, height: 2 * picture.naturalHeight });
  const context = canvas.getContext("2d")!;
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((done, failed) =>
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("no picture"))), "image/png"),
  );
}

/// Two buttons that save a figure; `draw` gives it as SVG with light colours.
export function saveButtons(name: string, draw: () => string): HTMLElement {
  const file = name.replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 60) || "figure";
  return h(
    "span",
    { class: "save" },
    button("SVG", `Save ${name} as SVG`, () => download(`${file}.svg`, new Blob([draw()], { type: "image/svg+xml" }))),
    button("PNG", `Save ${name} as PNG`, () => void asPng(draw()).then((blob) => download(`${file}.png`, blob))),
  );
}
