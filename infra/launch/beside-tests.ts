import { join } from 'node:path';
import { nameNatsServer } from './name-nats-server.ts';

// Runs a program that starts stacks as the tests do: its path in the repository comes first among the arguments.
await nameNatsServer();
const root = join(import.meta.dirname, '../..');
const [script = ''] = process.argv.splice(2, 1);
await import(join(root, script));
