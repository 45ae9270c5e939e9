import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, test } from 'node:test';
import { eventually } from '../harness/eventually.ts';
import { endChild } from '../harness/processes/child.ts';
import { createGround, startStack } from '../harness/stacks/stack.ts';
import { copyExtensions } from './extensions/extensions-directory.ts';
import { configure, countTaken, deliver, takenMail } from './inbound-mails/mail-ground.ts';
import { mailgunMail, postmarkMail, postmarkPassword } from './inbound-mails/requests.ts';

const directory = copyExtensions('mailing');
after(() => rmSync(directory, { recursive: true }));
const environment = { SERVICE_EXTENSIONS_DIR: directory };

test('mails that come in at two replicas', async (t) => {
  await using ground = await createGround();
  await using one = await startStack({ topology: 'one', ground, environment });
  const other = await startStack({ topology: 'one', beside: ground, environment });
  t.after(() => other.stop());
  await configure(await one.admin(), one.guest);
  await configure(await one.admin(), other.guest);
  const both = Array.from({ length: 20 }, (_, index) => (index % 2 ? one.guest : other.guest));

  await t.test('a token counts once over both [mail §6.3]', async () => {
    const request = mailgunMail('Shared token');
    const answers = await Promise.all(both.map((guest) => deliver(guest, 'mailgun', request)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(19).fill(406)]);
    await takenMail(one.guest, 'Shared token');
    assert.equal(await countTaken(one.guest, 'Shared token'), 1);
  });

  await t.test('a repeated mail reaches the hook once over both [mail §6.5]', async () => {
    const sending = { body: postmarkMail('Shared mail'), headers: postmarkPassword };
    const answers = await Promise.all(both.map((guest) => deliver(guest, 'postmark', sending)));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    await takenMail(one.guest, 'Shared mail');
    assert.equal(await countTaken(one.guest, 'Shared mail'), 1);
  });

  await t.test('a mail that was taken reaches the hook, though its replica is killed [mail §6.5]', async () => {
    const subjects = Array.from({ length: 20 }, (_, index) => `Killed ${index}`);
    const statuses = await Promise.all(
      subjects.map(async (subject) => {
        const answer = deliver(other.guest, 'postmark', { body: postmarkMail(subject), headers: postmarkPassword });
        return (await answer).status;
      }),
    );
    await endChild(other.process, 'SIGKILL');
    assert.deepEqual([...new Set(statuses)], [200]);
    for (const subject of subjects)
      await eventually(`the hook has ${subject}`, async () => Number(await countTaken(one.guest, subject)) >= 1, {
        timeoutMs: 120_000,
      });
  });
});
