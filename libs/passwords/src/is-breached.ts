import { createHash } from 'node:crypto';

/** How long the service may take for the whole answer, and how large that may be. */
const timeoutMs = 2000;
const maxAnswerBytes = 1024 * 1024;
const prefixLength = 5;

/**
 * Is the password known from a breach? Only the first 5 characters of its SHA-1 leave, and the answer is padded so that
 * its size tells nothing either (range API of Have I Been Pwned). Throws when the service gives no proper answer in 2 s.
 */
export async function isBreached(password: string, rangeUrl: string): Promise<boolean> {
  const digest = createHash('sha1').update(password).digest('hex').toUpperCase();
  const response = await fetch(`${rangeUrl.replace(/\/?$/, '/')}${digest.slice(0, prefixLength)}`, {
    headers: { 'Add-Padding': 'true', 'User-Agent': 'Recordbus' },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`the service of breached passwords answered ${response.status}`);
  }
  const suffix = digest.slice(prefixLength);
  // Padding is made of suffixes that were seen 0 times.
  return (await readText(response)).split('\n').some((line) => {
    const [found, count] = line.trim().split(':');
    return found?.toUpperCase() === suffix && Number(count) > 0;
  });
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new Error('the service of breached passwords answered too much');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
