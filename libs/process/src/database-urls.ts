/** Values for `target_session_attrs` that say what Recordbus needs: a server that takes writes. */
const writable = new Set(['read-write', 'primary']);

const maxLength = 8192;

/**
 * Returns a URL for each host in a database's URL, such as
 * `postgres://a:5432,b:5432/db?target_session_attrs=read-write`. Undefined for a text that is not such a URL, or that
 * asks for servers that take no writes.
 */
export function urlsOfDatabase(text: string): readonly [string, ...string[]] | undefined {
  if (text.length > maxLength || !/^postgres(ql)?:\/\//.test(text)) return undefined;
  // A URL with several hosts is not a web URL (libpq, section 34.1.1.2).
  const start = text.indexOf('//') + 2;
  const authorityEnd = endOf(text, start, ['/', '?', '#']);
  const at = text.lastIndexOf('@', authorityEnd);
  const hostsStart = at < start ? start : at + 1;
  const [before, hosts, after] = [
    text.slice(0, hostsStart),
    text.slice(hostsStart, authorityEnd),
    text.slice(authorityEnd),
  ];
  const [first = '', ...others] = hosts.split(',').map((host) => singleUrl(`${before}${host.trim()}${after}`));
  // If there are several hosts, each must have a name.
  if (!first || others.some((url) => !url || !URL.parse(url)?.hostname)) return undefined;
  return others.length > 0 && !URL.parse(first)?.hostname ? undefined : [first, ...others.filter((url) => url !== '')];
}

/** Returns a URL without `target_session_attrs`, which the driver does not know; empty if the text is not a URL. */
function singleUrl(text: string): string {
  const url = URL.parse(text);
  if (!url) return '';
  const wanted = url.searchParams.get('target_session_attrs');
  if (wanted === null) return text;
  if (!writable.has(wanted)) return '';
  url.searchParams.delete('target_session_attrs');
  return url.href;
}

/** Returns the index of the first such character from a position on, or the text's end. */
const endOf = (text: string, from: number, characters: readonly string[]): number =>
  Math.min(...characters.map((character) => text.indexOf(character, from)).filter((at) => at >= 0), text.length);
