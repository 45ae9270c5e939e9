// npm run demo:tasks: a separate stack, the app on it, and a receiver for its webhook in this terminal.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@recordbus/client';
import type { Schema } from '../recordbus.d.ts';
import { startTaskReceiver } from './receiver.ts';
import { servePage } from './serve-page.ts';
import { applySchema, connect, people, seed } from './set-up.ts';
import { startStack } from './start-stack.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const directory = mkdtempSync(join(tmpdir(), 'recordbus-tasks-'));
const tidying = new AsyncDisposableStack();
tidying.defer(() => rmSync(directory, { recursive: true, force: true }));
try {
  const ended = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  say('Starting a stack with data of its own …');
  const stack = tidying.use(await startStack(directory));
  const receiver = tidying.use(await startTaskReceiver((line) => say(`webhook  ${line}`)));
  const page = tidying.use(await servePage(stack.url, Number(process.env.PORT ?? 5173)));

  const account = { email: 'admin@example.com', password: randomBytes(12).toString('base64url') };
  const admin = createClient<Schema>(stack.url);
  await admin.admin.setup({ token: stack.setupToken, ...account });
  await applySchema(admin);
  receiver.verifyWith(await connect(admin, page.url, receiver.url));
  await seed(stack.url);

  const [ada] = people;
  say(`
The app:      ${page.url}
Sign in as:   ${people.map(({ email }) => email).join(' or ')}, with “${ada.password}”
Admin pages:  ${stack.url}/_/   ${account.email}   ${account.password}

Open the app in two browsers. What one person changes, the other sees at once, and this terminal prints it.
Ctrl-C ends everything and removes the data.
`);
  await ended;
} finally {
  await tidying.disposeAsync();
}
