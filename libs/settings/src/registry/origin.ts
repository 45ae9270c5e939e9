/** Returns the origin as browsers send it (RFC 6454 §6.2); undefined for a text that is not an origin. */
export function normalizeOrigin(text: string): string | undefined {
  if (text === '*') return text;
  if (wildcardProblem(text) !== undefined) return undefined;
  const isAnyPort = text.endsWith(':*');
  const plain = text.replace(/:\*$/, '').replace('*', placeholder);
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/i.test(plain)) return undefined;
  const url = URL.parse(plain);
  if (!url) return undefined;
  const isWeb = /^https?:$/.test(url.protocol);
  if (text.includes('*') && !isWeb) return undefined;
  if (isAnyPort) return /:[0-9]*$/.test(plain) ? undefined : `${url.origin}:*`;
  // In the URL standard only http and https have an origin; apps in a web view use other schemes.
  return isWeb ? url.origin.replace(placeholder, '*') : text.toLowerCase();
}

/** Stands for `*` while an origin is parsed. The parser changes labels in other scripts, but not this one. */
const placeholder = 'any-label-0e5f';

/** Returns why an origin may not have its `*`; undefined for one that has none, or has it in a place for it (http §10.1). */
export function wildcardProblem(text: string): string | undefined {
  const [, host = '', port] = /^[^:]*:\/\/([^/?#@]*?)(:[^:\]]*)?$/.exec(text) ?? [];
  const inPort = port?.includes('*') ?? false;
  if (!inPort && !host.includes('*')) return undefined;
  if (text.indexOf('*') !== text.lastIndexOf('*')) return 'may have one *, as one label in the name or as the port';
  if (inPort) return port === ':*' ? undefined : 'may have * as the whole port, as in http://localhost:*';
  const labels = host.split('.');
  const place = labels.indexOf('*');
  if (place < 0) return 'may have * as a whole label in the name, as in https://*.preview.example.com';
  const after = labels.slice(place + 1).filter((label) => label !== '');
  if (after.length > 1 || after[0]?.toLowerCase() === 'localhost') return undefined;
  return 'must have at least two labels after *, as in https://*.example.com';
}

/** Returns whether a setting's origin (normalised) admits a browser's origin (in lower case), in linear time. */
export function admitsOrigin(pattern: string, origin: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === origin;
  if (pattern.endsWith(':*')) {
    const base = pattern.slice(0, -2);
    return origin.startsWith(base) && /^(:[0-9]{1,5})?$/.test(origin.slice(base.length, base.length + 7));
  }
  const before = pattern.slice(0, star);
  const after = pattern.slice(star + 1);
  const labelLength = origin.length - before.length - after.length;
  if (labelLength < 1 || labelLength > maxLabelLength) return false;
  if (!origin.startsWith(before) || !origin.endsWith(after)) return false;
  return /^[a-z0-9_-]+$/.test(origin.slice(before.length, before.length + labelLength));
}

/** How many characters a host name label may have (RFC 1035 §2.3.4). */
const maxLabelLength = 63;
