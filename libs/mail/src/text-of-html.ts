/** Elements whose content is not text. */
const hidden = new Set(['style', 'script', 'head', 'title']);
/** Tags that end a line. */
const breaking = /^(?:br|\/(?:p|div|h[1-6]|li|tr|table|ul|ol|blockquote))$/;
const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };

/**
 * Returns the text in HTML, with link targets in parentheses. It reads the HTML once, so no broken template takes long.
 */
export function textOfHtml(html: string): string {
  let text = '';
  let hiddenBy: string | undefined;
  let link: { readonly target: string; readonly begin: number } | undefined;
  for (const [token] of withoutComments(html).matchAll(/<[^<>]*>|[^<]+|</g)) {
    const name = /^<(\/?[a-z][a-z0-9]*)/i.exec(token)?.[1]?.toLowerCase();
    if (hiddenBy !== undefined) {
      if (name === `/${hiddenBy}`) hiddenBy = undefined;
    } else if (name === undefined) {
      if (!token.startsWith('<!')) text += characterData(token);
    } else if (hidden.has(name)) {
      hiddenBy = name;
    } else if (name === 'a') {
      link = { target: hrefOf(token), begin: text.length };
    } else if (name === '/a') {
      if (link) text = text.slice(0, link.begin) + linkText(text.slice(link.begin), link.target);
      link = undefined;
    } else if (breaking.test(name)) {
      text += '\n';
    }
  }
  return text
    .split('\n')
    .map((line) => line.replace(/ +/g, ' ').trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

const characterData = (token: string): string =>
  token.replace(/\s+/g, ' ').replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => characters[name] ?? '');

function hrefOf(tag: string): string {
  const [, double, single] = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(tag) ?? [];
  return characterData(double ?? single ?? '').trim();
}

const linkText = (label: string, target: string): string =>
  target === '' || label.trim() === target ? label : `${label} (${target})`;

function withoutComments(html: string): string {
  let rest = '';
  for (let from = 0; ; ) {
    const begin = html.indexOf('<!--', from);
    if (begin < 0) return rest + html.slice(from);
    rest += html.slice(from, begin);
    const end = html.indexOf('-->', begin);
    if (end < 0) return rest;
    from = end + 3;
  }
}
