import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWebhook, webhooksPath } from './harness/clients/webhook.ts';
import { startReceiver } from './harness/servers/receiver.ts';
import { repository } from './harness/stacks/stack.ts';
import { onOneProcess } from './harness/stacks/target.ts';

const page = readFileSync(join(repository, 'docs/webhooks.md'), 'utf8');

/**
 * How each language's program is run. Without `always` it needs a tool that some machines lack, and runs on request.
 */
const languages: Readonly<Record<string, { file: string; command: readonly string[]; always?: true }>> = {
  js: { file: 'verify.mjs', command: [process.execPath], always: true },
  sh: { file: 'verify.sh', command: ['sh'], always: true },
  python: { file: 'verify.py', command: ['python3'] },
  go: { file: 'verify.go', command: ['go', 'run'] },
  java: { file: 'Verify.java', command: ['java'] },
};
const requested = (process.env.TEST_LANGUAGES ?? '').split(',');

/** Returns a language's last program on the page. */
const programIn = (language: string): string => {
  const section = page.slice(page.indexOf('## Verifying'));
  return section.split(`\`\`\`${language}\n`).at(-1)?.split('\n```')[0] ?? '';
};

/** Returns the delivery's headers as if its attempt were made at another time. */
function signedAt(headers: IncomingHttpHeaders, body: string, secret: string, offsetSec: number): IncomingHttpHeaders {
  const timestamp = Math.floor(Date.now() / 1000) + offsetSec;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${headers['webhook-id']}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${signature}` };
}

onOneProcess('the programs in docs/webhooks.md accept only genuine deliveries', async (t, target) => {
  await using tidying = new AsyncDisposableStack();
  const receiver = tidying.use(await startReceiver());
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-verify-'));
  tidying.defer(() => rmSync(directory, { recursive: true, force: true }));
  const admin = await target.admin();
  const { id, secret: oldSecret } = await createWebhook(admin, receiver.url, ['*']);
  const { secret: newSecret } = await admin.post(`${webhooksPath}/${id}/regenerate-secret`, {}, 200);
  await admin.post(`${webhooksPath}/${id}/test`, {}, 200);
  const [delivery] = await receiver.received(1);
  assert.ok(delivery);

  for (const [language, { file, command, always }] of Object.entries(languages)) {
    const skip = always || requested.includes(language) ? false : 'not named in TEST_LANGUAGES';
    await t.test(language, { skip }, () => {
      const path = join(directory, file);
      writeFileSync(path, programIn(language));
      const run = (secret: unknown, headers: IncomingHttpHeaders, body: string): number | null => {
        const values = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => String(headers[name]));
        const [program = '', ...flags] = command;
        const { status, stderr } = spawnSync(program, [...flags, path, ...values], {
          input: body,
          env: { ...process.env, WEBHOOK_SECRET: String(secret) },
          encoding: 'utf8',
        });
        assert.ok(status === 0 || status === 1, `${status} ${stderr}`);
        return status;
      };
      const { headers, text } = delivery;
      assert.equal(run(newSecret, headers, text), 0, 'genuine');
      assert.equal(run(oldSecret, headers, text), 0, 'genuine by the previous secret');
      assert.equal(run(newSecret, headers, `${text} `), 1, 'another body');
      assert.equal(run(`whsec_${Buffer.alloc(32).toString('base64')}`, headers, text), 1, 'another secret');
      assert.equal(run(newSecret, { ...headers, 'webhook-id': 'x' }, text), 1, 'another id');
      for (const [offsetSec, status] of [
        [-250, 0],
        [-400, 1],
        [400, 1],
      ] as const)
        assert.equal(
          run(newSecret, signedAt(headers, text, String(newSecret), offsetSec), text),
          status,
          `${offsetSec} s`,
        );
      assert.equal(run(newSecret, { ...headers, 'webhook-signature': 'v1,' }, text), 1, 'no signature');
    });
  }
});
