import type { Command } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { RotateOptions } from './rotate-key.ts';

/** `encryption rotate`. */
export function addEncryptionCommands(program: Command): void {
  program
    .command('encryption')
    .description('the key of what is encrypted at rest')
    .command('rotate')
    .description('encrypt everything anew, under another key; the services have to be stopped')
    .option('--key-stdin', 'read the new key from the first line of standard input')
    .option('--leave-unreadable', 'leave what neither key opens as it is, instead of changing nothing')
    .option('--json', 'write the outcome as JSON')
    .addHelpText('after', rotateHelp)
    .action((options: RotateOptions) =>
      loadAndRun('encryption rotate', options, async (parts) =>
        (await import('./rotate-key.ts')).rotateKey(parts, options),
      ),
    );
}

const rotateHelp = `
The key so far is SERVICE_ENCRYPTION_KEY; without one, what is stored in plain text is encrypted. The new key is asked for
at a terminal, or comes from SERVICE_NEW_ENCRYPTION_KEY:
  openssl rand -hex 32 > new.key && recordbus encryption rotate --key-stdin < new.key
Everything is changed in one transaction. Afterwards start the services with the new key.`;
