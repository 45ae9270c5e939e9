// npm run demo:shop: a separate stack, a shop on it, and two customers with endpoints of their own in this terminal.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@recordbus/client';
import { startStack } from '@recordbus/tasks-example/start-stack';
import { startCustomerReceiver } from './receiver.ts';
import { addCustomer, allowWebhooks, applySchema, portalLink, registerEndpoint } from './set-up.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const directory = mkdtempSync(join(tmpdir(), 'recordbus-shop-'));
const tidying = new AsyncDisposableStack();
tidying.defer(() => rmSync(directory, { recursive: true, force: true }));
try {
  const ended = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  say('Starting a stack with data of its own …');
  const stack = tidying.use(await startStack(directory));
  const account = { email: 'admin@example.com', password: randomBytes(12).toString('base64url') };
  const admin = createClient(stack.url);
  await admin.admin.setup({ token: stack.setupToken, ...account });
  await applySchema(admin);

  const titles = ['North', 'South'];
  const receivers = await Promise.all(
    titles.map((title) => startCustomerReceiver((line) => say(`${title} got  ${line}`))),
  );
  for (const receiver of receivers) tidying.use(receiver);
  await allowWebhooks(
    admin,
    receivers.map(({ url }) => url),
  );
  for (const [index, title] of titles.entries()) {
    const receiver = receivers[index];
    if (!receiver) continue;
    const customer = await addCustomer(admin, stack.url, title);
    receiver.verifyWith(await registerEndpoint(customer, receiver.url));
    await admin.from('orders').create({ company: customer.company, item: 'A lamp', state: 'new', margin: 12 });
    say(`${title}'s portal, opens once:  ${await portalLink(admin, stack.url, customer)}`);
  }
  say(`
Admin pages:  ${stack.url}/_/   ${account.email}   ${account.password}

Change an order there: its company's endpoint gets the event, without the margin. Ctrl-C ends everything.
`);
  await ended;
} finally {
  await tidying.disposeAsync();
}
