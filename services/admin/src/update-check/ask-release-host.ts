import { createEgressClient, parseEgressRules } from '@recordbus/egress';
import { z } from 'zod';

/** For the whole exchange, and for its answer. */
const timeoutMs = 10_000;
const maxAnswerBytes = 256 * 1024;

const release = z.object({ tag_name: z.string().regex(/^[\x21-\x7e]{1,100}$/) });

/**
 * Asks for the tag of the latest release. Says nothing about who asks. Throws, with a sentence for admins, when there is
 * no proper answer in 10 s. The egress settings don't apply: the address is the operator's, not an extension's.
 */
export async function askReleaseHost(url: string): Promise<string> {
  const client = createEgressClient({ rules: () => parseEgressRules({ deny: 'off', allow: '' }) });
  try {
    const { status, body, truncated } = await client.request(url, {
      method: 'GET',
      headers: [
        ['accept', 'application/json'],
        ['user-agent', 'Recordbus'],
      ],
      timeoutMs,
      maxBodyBytes: maxAnswerBytes,
    });
    if (status !== 200) throw new Error(`the release host answered ${status}`);
    if (truncated) throw new Error(`the release host answered more than ${maxAnswerBytes} bytes`);
    return tagOf(Buffer.from(body).toString('utf8'));
  } finally {
    await client.close();
  }
}

function tagOf(text: string): string {
  try {
    return release.parse(JSON.parse(text)).tag_name;
  } catch {
    throw new Error('the release host answered no JSON with a tag_name');
  }
}
