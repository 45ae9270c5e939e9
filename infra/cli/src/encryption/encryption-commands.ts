import type { Command } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { CommonOptions } from '../run-command.ts';
import type { RotateOptions } from './rotate-key.ts';

/** `encryption seal` and `encryption rotate`. */
export function addEncryptionCommands(program: Command): void {
  const encryption = program.command('encryption').description('the key that encrypts stored values');
  encryption
    .command('seal')
    .description('encrypt values that were stored before there was a key; the services must be stopped')
    .option('--json', 'write the result as JSON')
    .action((options: CommonOptions) =>
      loadAndRun('encryption seal', options, async (parts) =>
        (await import('./rotate-key.ts')).encryptPlainText(parts),
      ),
    );
  encryption
    .command('rotate')
    .description('encrypt all values with another key; the services must be stopped')
    .option('--key-stdin', 'read the new key from the first line of standard input')
    .option('--leave-unreadable', 'keep values that neither key decrypts, instead of refusing')
    .option('--json', 'write the result as JSON')
    .addHelpText('after', rotateHelp)
    .action((options: RotateOptions) =>
      loadAndRun('encryption rotate', options, async (parts) =>
        (await import('./rotate-key.ts')).rotateKey(parts, options),
      ),
    );
}

const rotateHelp = `
The current key is SERVICE_ENCRYPTION_KEY, or else the data directory's key file. Without a current key, plain text is
encrypted. A key file gets a new random key when none is given. Otherwise a terminal asks for the new key, or it comes from
SERVICE_NEW_ENCRYPTION_KEY:
  openssl rand -hex 32 > new.key && recordbus encryption rotate --key-stdin < new.key
All values change in one transaction. Start the services with the new key afterwards.`;
