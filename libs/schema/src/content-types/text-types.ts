/** Text types by extension. Text has no signature. */
const plainTypes: Readonly<Record<string, string>> = {
  css: 'text/css',
  csv: 'text/csv',
  geojson: 'application/geo+json',
  ics: 'text/calendar',
  js: 'text/javascript',
  json: 'application/json',
  jsonl: 'application/x-ndjson',
  jsonld: 'application/ld+json',
  log: 'text/plain',
  markdown: 'text/markdown',
  md: 'text/markdown',
  mjs: 'text/javascript',
  ndjson: 'application/x-ndjson',
  sql: 'application/sql',
  srt: 'application/x-subrip',
  toml: 'application/toml',
  tsv: 'text/tab-separated-values',
  txt: 'text/plain',
  vcf: 'text/x-vcard',
  vtt: 'text/vtt',
  webmanifest: 'application/manifest+json',
  yaml: 'application/yaml',
  yml: 'application/yaml',
};

/** XML types by extension. */
const xmlTypes: Readonly<Record<string, string>> = {
  atom: 'application/atom+xml',
  gpx: 'application/gpx+xml',
  kml: 'application/vnd.google-earth.kml+xml',
  rss: 'application/rss+xml',
  xml: 'text/xml',
};

/** Feeds by their root element, in lower case. */
const feedTypes: Readonly<Record<string, string>> = {
  feed: 'application/atom+xml',
  'rdf:rdf': 'application/rdf+xml',
  rss: 'application/rss+xml',
};

const markdown = 'text/markdown';

/** Every type that `findTextTypes` may return. */
export const textTypes: readonly string[] = [
  ...Object.values(plainTypes),
  ...Object.values(xmlTypes),
  ...Object.values(feedTypes),
  ...['text/html', 'application/xhtml+xml', 'image/svg+xml'],
];

/**
 * Types that a download may have. Other text is served as plain text, so no page from this site can load it as a
 * script.
 */
const served: readonly string[] = ['text/csv', 'text/tab-separated-values', 'application/json', markdown];

/** A text's type in a download: markup keeps its type, since it is sent as an attachment. */
export const servedTypeOf = (type: string): string => (served.includes(type) || isMarkup(type) ? type : 'text/plain');

/** Whether a browser runs text with this type as a page. */
export const isMarkup = (type: string): boolean => /^text\/(html|xml)$|\+xml$/.test(type);

/** Whether a browser that ignores types might run a text as a page. */
export const hasMarkup = (text: string): boolean =>
  /<(svg|html|head|body|script|iframe|style|title|a|img|h1|div|p|table)[\s>/]/i.test(text);

/** Elements with which an HTML document begins, if its own tags are left out. */
const documentTags = ['head', 'body', 'script', 'style', 'title', 'iframe'];
/** Elements with which an HTML fragment begins (WHATWG MIME Sniffing §7.1). */
const pieceTags = [...documentTags, 'h1', 'div', 'font', 'table', 'a', 'b', 'br', 'p', 'img'];

/**
 * Returns what a text is. Its beginning decides whether it is an HTML or XML document, and the extension which kind of
 * text it is: HTML within CSV, Markdown or a feed does not change what they are.
 */
export function findTextTypes(text: string, extension: string): readonly [string, ...string[]] {
  const { root, isXml, isHtml } = beginningOf(text);
  if (isHtml || root === 'html') return isXml ? ['application/xhtml+xml', 'text/html'] : ['text/html'];
  const plain = find(plainTypes, extension);
  // Markdown may begin with any tag.
  if (plain === markdown && !isXml) return [plain];
  if (root === 'svg') return ['image/svg+xml'];
  const feed = find(feedTypes, root);
  const isNamedXml = find(xmlTypes, extension) !== undefined;
  if (feed && (isXml || isNamedXml || plain === undefined)) return [feed, 'text/xml'];
  if (isXml || (root !== undefined && isNamedXml)) return kindOfXml(extension);
  if (plain !== undefined) {
    if (root !== undefined && documentTags.includes(root)) return ['text/html'];
    return served.includes(plain) || plain === 'text/plain' ? [plain] : [plain, 'text/plain'];
  }
  const isPiece = root !== undefined && pieceTags.includes(root);
  return isPiece || (/^x?html?$/.test(extension) && hasMarkup(text)) ? ['text/html'] : ['text/plain'];
}

const find = (table: Readonly<Record<string, string>>, name: string | undefined): string | undefined =>
  name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;

function kindOfXml(extension: string): readonly [string, ...string[]] {
  const kind = find(xmlTypes, extension) ?? 'text/xml';
  return kind === 'text/xml' ? [kind] : [kind, 'text/xml'];
}

interface BeginningOfText {
  /** The first element's name, in lower case; undefined if the text does not begin with one. */
  readonly root: string | undefined;
  /** Whether it has an XML declaration, or a document type other than HTML's. */
  readonly isXml: boolean;
  /** Whether it has HTML's document type. */
  readonly isHtml: boolean;
}

/** Reads a text's beginning up to its first element. */
function beginningOf(text: string): BeginningOfText {
  let isXml = false;
  let rest = text.trimStart();
  for (;;) {
    if (/^<!doctype\s+html/i.test(rest)) return { root: undefined, isXml, isHtml: true };
    const end = endOfPrologue(rest);
    if (end === undefined) break;
    isXml ||= /^<(\?xml\s|!doctype)/i.test(rest);
    rest = rest.slice(end).trimStart();
  }
  const root = /^<([a-z][a-z0-9:_-]*)(?=[\s>/])/i.exec(rest)?.[1]?.toLowerCase();
  return { root, isXml, isHtml: false };
}

/** The position after a comment, an instruction or a document type with which a text begins. */
function endOfPrologue(text: string): number | undefined {
  const mark = ['<!--', '<?'].find((one) => text.startsWith(one));
  const close = mark === '<!--' ? '-->' : mark === '<?' ? '?>' : /^<!doctype[^>[]*\[/i.test(text) ? ']>' : '>';
  if (mark === undefined && !/^<!doctype/i.test(text)) return undefined;
  const at = text.indexOf(close);
  return at < 0 ? text.length : at + close.length;
}
