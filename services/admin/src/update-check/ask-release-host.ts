import { createEgressClient, parseEgressRules } from '@recordbus/egress';
import { z } from 'zod';

/** The whole exchange's timeout, in milliseconds. */
const timeoutMs = 10_000;
const maxAnswerBytes = 256 * 1024;

const release = z.object({ tag_name: z.string().regex(/^[\x21-\x7e]{1,100}$/) });

/**
 * Fetches the latest release's tag. The request does not identify the installation. Throws an error with a sentence for
 * admins when no valid answer arrives within 10 s. The egress settings do not apply: the operator chose the address.
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
    throw new Error('the release host did not answer JSON with a tag_name');
  }
}
