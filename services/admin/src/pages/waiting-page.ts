import { plainText, type Reply } from '@recordbus/http';

const withoutMarkup = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Returns the page shown until the pages are built. It reloads itself, and says why if the build failed. */
export function waitingPage(failure: string | undefined, policy: string): Reply {
  const text = failure
    ? `<h1>The pages could not be built</h1><p>${withoutMarkup(failure.slice(0, 2000))}</p>
<p>The API works without them. The next start tries again.</p>`
    : '<h1>One moment</h1><p>The pages are being built. This page reloads itself.</p>';
  const reply = plainText(
    'text/html; charset=utf-8',
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><meta http-equiv="refresh" content="${failure ? 10 : 1}">
<title>Recordbus</title><main>${text}</main></html>\n`,
  );
  const headers = {
    ...reply.headers,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policy,
  };
  return { ...reply, headers };
}
