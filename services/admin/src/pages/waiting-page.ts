import { createHash } from 'node:crypto';
import { plainText, type Reply } from '@recordbus/http';

const withoutMarkup = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** A refresh by a header or a meta element would keep the page if the address has a fragment, such as a set-up token. */
const script = 'setTimeout(() => location.reload(), Number(document.documentElement.dataset.reloadMs));';

const style = `html { font: 14px/1.5 system-ui, sans-serif; background: Canvas; color: CanvasText; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; }
main { max-width: 32rem; padding: 1.5rem; text-align: center; }
h1 { margin: 0 0 .5rem; font-size: 1.25rem; }
p { margin: .5rem 0 0; opacity: .75; overflow-wrap: anywhere; }`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Returns a page's policy with the waiting page's own script and style. */
const policyWithOwn = (policy: string): string =>
  policy
    .replace("script-src 'self'", `script-src 'self' ${hashOf(script)}`)
    .replace("style-src 'self'", `style-src 'self' ${hashOf(style)}`);

/** Returns the page shown until the pages are built. It reloads itself, and says why if the build failed. */
export function waitingPage(failure: string | undefined, policy: string): Reply {
  const text = failure
    ? `<h1>The pages could not be built</h1><p>${withoutMarkup(failure.slice(0, 2000))}</p>
<p>The API works without them. The next start tries again.</p>`
    : '<h1>One moment</h1><p>The pages are being built. This page reloads itself.</p>';
  const reply = plainText(
    'text/html; charset=utf-8',
    `<!doctype html><html lang="en" data-reload-ms="${failure ? 10_000 : 1000}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>Recordbus</title><style>${style}</style><main>${text}</main><script>${script}</script></html>\n`,
  );
  const headers = {
    ...reply.headers,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policyWithOwn(policy),
  };
  return { ...reply, headers };
}
