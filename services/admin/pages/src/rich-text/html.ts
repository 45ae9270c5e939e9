import { type DefaultTreeAdapterTypes, parseFragment, serialize } from 'parse5';
import { DOMParser, DOMSerializer, type Node } from 'prosemirror-model';
import { keptName, keptText, readKept } from './kept-attributes.ts';
import { lostMarkup } from './lost-markup.ts';
import { schema } from './schema.ts';

type Tree = DefaultTreeAdapterTypes.ChildNode;
type TreeElement = DefaultTreeAdapterTypes.Element;

/** An element's attributes that the schema reads. The others are kept. */
const ownAttributes: Readonly<Record<string, readonly string[]>> = {
  a: ['href'],
  img: ['src', 'alt'],
  td: ['colspan', 'rowspan'],
  th: ['colspan', 'rowspan'],
};
/** The elements that the schema reads, and those that only divide a text. */
const known: ReadonlySet<string> = new Set(
  `p h1 h2 h3 h4 h5 h6 blockquote ul ol li pre code hr table thead tbody tfoot tr td th img br a span strong b em i u s del
  strike sub sup div`.split(/\s+/),
);
/** Elements whose text is not part of the document's text. */
const textless: ReadonlySet<string> = new Set(
  'script style template title head noscript iframe object svg math textarea select'.split(' '),
);
/** Other elements that start a line of their own. */
const block =
  /^(address|article|aside|dd|details|dl|dt|fieldset|figcaption|figure|footer|form|header|main|nav|section)$/;

/** Without a window: its images do not load, and its scripts do not run. */
const inert = document.implementation.createHTMLDocument('');

/**
 * Builds safe elements from a parsed text. The browser's own parser would report each style and event handler as a breach
 * of the page's policy.
 */
function append(parent: HTMLElement, nodes: readonly Tree[], keepsAll: boolean): void {
  for (const node of nodes) {
    if (node.nodeName === '#text' && 'value' in node) parent.append(node.value);
    if (!('tagName' in node) || textless.has(node.tagName)) continue;
    const name = known.has(node.tagName) ? node.tagName : block.test(node.tagName) ? 'div' : undefined;
    const place = name === undefined ? parent : inert.createElement(name);
    if (name === node.tagName) takeAttributes(place, node, keepsAll);
    append(place, node.childNodes, keepsAll);
    if (place !== parent) parent.append(place);
  }
}

function takeAttributes(place: HTMLElement, { tagName, attrs }: TreeElement, keepsAll: boolean): void {
  const own = ownAttributes[tagName] ?? [];
  const others: Record<string, string> = {};
  for (const { name, value } of attrs) {
    if (own.includes(name)) place.setAttribute(name, name.endsWith('span') ? spanOf(value) : value);
    // How a copy continues the text around it.
    else if (name === 'data-pm-slice' && !keepsAll) place.setAttribute(name, value);
    else others[name] = value;
  }
  const kept = keepsAll ? keptText(others) : keptText(readKept(others[keptName]));
  if (kept !== null) place.setAttribute(keptName, kept);
}

/** A cell spans at most this many rows or columns: the editor keeps a map with a place for each. */
const maxSpan = 100;
const spanOf = (text: string): string => String(Math.min(maxSpan, Math.max(1, Math.trunc(Number(text)) || 1)));

function safeElements(html: string, keepsAll: boolean): HTMLElement {
  const body = inert.createElement('div');
  append(body, parseFragment(html).childNodes, keepsAll);
  return body;
}

/** A rich text, with what its document does not contain. */
export interface RichText {
  readonly doc: Node;
  /** The markup that is lost when the document is written, such as `<iframe>`. */
  readonly lost: readonly string[];
}

/** Reads HTML. Throws a `RangeError` if it is nested too deeply. */
export function readHtml(html: string): RichText {
  const doc = DOMParser.fromSchema(schema).parse(safeElements(html, true));
  return { doc, lost: lostMarkup(html, writeHtml(doc)) };
}

/** Writes a document as HTML, with the attributes that were kept. */
export function writeHtml(doc: Node): string {
  if (doc.childCount === 1 && doc.firstChild?.type.name === 'paragraph' && doc.firstChild.childCount === 0) return '';
  const body = inert.createElement('div');
  body.append(DOMSerializer.fromSchema(schema).serializeFragment(doc.content, { document: inert }));
  const tree = parseFragment(body.innerHTML);
  putBack(tree.childNodes);
  return serialize(tree);
}

function putBack(nodes: readonly Tree[]): void {
  for (const node of nodes) {
    if (!('tagName' in node)) continue;
    const kept = readKept(node.attrs.find(({ name }) => name === keptName)?.value);
    node.attrs = [
      ...node.attrs.filter(({ name }) => name !== keptName && name !== 'style'),
      ...Object.entries(kept).map(([name, value]) => ({ name, value })),
    ];
    putBack(node.childNodes);
  }
}

/** Returns pasted HTML with what the schema reads. Attributes of other programs are dropped. */
export const cleanHtml = (html: string): string => safeElements(html, false).innerHTML;
