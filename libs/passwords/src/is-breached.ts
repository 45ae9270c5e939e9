import { createHash } from 'node:crypto';

/** An answer's limits (auth §2.3). */
const timeoutMs = 2000;
const maxAnswerBytes = 1024 * 1024;
const prefixLength = 5;

/**
 * Whether the password is in a known breach. Only its SHA-1's first 5 characters are sent, and the answer is padded so
 * that its size reveals nothing (Have I Been Pwned's range API). Throws without a proper answer within 2 s.
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
    throw new Error(`the breach check service answered ${response.status}`);
  }
  const suffix = digest.slice(prefixLength);
  // Padding lines have the count 0.
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
    if (bytes > maxAnswerBytes) throw new Error("the breach check service's answer is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
