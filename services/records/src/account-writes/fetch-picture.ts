import type { EgressClient } from '@recordbus/egress';
import { sniffContent } from '@recordbus/schema/content-types';

/** A picture, in an upload's form. */
export interface Picture {
  readonly bytes: Buffer;
  readonly filename: string;
}

/** Limits for all requests together, redirects included. */
const timeoutMs = 10_000;
const maxBytes = 5 * 1024 * 1024;
const maxRedirects = 3;
const redirects: readonly number[] = [301, 302, 303, 307, 308];

/** Accepted content types and their extensions. SVG is left out: it may contain scripts. */
const extensions: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/heic': 'heic',
  'image/heif': 'heif',
  'image/bmp': 'bmp',
  'image/tiff': 'tiff',
  'image/x-icon': 'ico',
};

/** Fetches a picture. The egress filter also checks each redirect's target. Throws an Error with the cause. */
export async function fetchPicture(client: Pick<EgressClient, 'request'>, url: string): Promise<Picture> {
  const endsAtMs = performance.now() + timeoutMs;
  let target = new URL(url);
  for (let hops = 0; hops <= maxRedirects; hops += 1) {
    const leftMs = Math.round(endsAtMs - performance.now());
    if (leftMs <= 0) break;
    const answer = await client.request(target, {
      method: 'GET',
      headers: [['Accept', 'image/*']],
      timeoutMs: leftMs,
      maxBodyBytes: maxBytes,
    });
    const { location } = answer.headers;
    if (!redirects.includes(answer.status) || location === undefined) return readPicture(answer);
    target = new URL(location, target);
  }
  throw new Error(`more than ${maxRedirects} redirects, or more than ${timeoutMs} ms with them`);
}

function readPicture({
  status,
  body,
  truncated,
}: Pick<Awaited<ReturnType<EgressClient['request']>>, 'status' | 'body' | 'truncated'>): Picture {
  if (status !== 200) throw new Error(`status ${status}`);
  if (truncated) throw new Error(`the picture has more than ${maxBytes} bytes`);
  const bytes = Buffer.from(body);
  const [type] = sniffContent(bytes, '').types;
  const extension = Object.hasOwn(extensions, type) ? extensions[type] : undefined;
  if (extension === undefined) throw new Error(`not a picture but ${type}`);
  return { bytes, filename: `picture.${extension}` };
}
