import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { applySnapshotDocument, exportSnapshot } from '@recordbus/admin';
import { messageOf } from '@recordbus/errors';
import { CommandFailure } from '@recordbus/stack-calls';
import { cliActor } from '../cli-actor.ts';
import { openDeployment } from '../deployment/open-deployment.ts';
import type { CommandParts, CommonOptions } from '../run-command.ts';
import { standardStream } from '../standard-stream.ts';
import { writeFileAtomically } from '../write-file-atomically.ts';

export interface ApplyOptions extends CommonOptions {
  readonly mode: 'additive' | 'sync';
  readonly dryRun?: boolean;
}

/** Writes the snapshot to a file, or to standard output. */
export async function exportToFile(parts: CommandParts, file: string): Promise<undefined> {
  const { database } = await openDeployment(parts);
  const document = `${JSON.stringify(await exportSnapshot(database, nowSec()), undefined, 2)}\n`;
  if (file === standardStream) process.stdout.write(document);
  else await writeFileAtomically(file, document);
}

/** Applies the snapshot in a file or from standard input. Throws the errors of the API. */
export async function applyFile(
  parts: CommandParts,
  file: string,
  { mode, dryRun = false }: ApplyOptions,
): Promise<undefined> {
  const document = await readDocument(file);
  const deployment = await openDeployment(parts);
  const applied = await applySnapshotDocument(deployment, { snapshot: document, mode }, nowSec(), cliActor, {
    isDryRun: dryRun,
    isReadonly: parts.config.schemaMode === 'readonly',
  });
  const lines = (['created', 'updated', 'unchanged'] as const).map(
    (outcome) => `${outcome}: ${applied[outcome].join(', ') || 'none'}`,
  );
  const title = dryRun ? ['Nothing was changed. Applied, the snapshot would leave:'] : [];
  parts.terminal.report({ ...applied, dry_run: dryRun }, [...title, ...lines].join('\n'));
}

async function readDocument(file: string): Promise<unknown> {
  try {
    return JSON.parse(file === standardStream ? await text(process.stdin) : await readFile(file, 'utf8'));
  } catch (error) {
    throw new CommandFailure(`${file} cannot be read as a snapshot: ${messageOf(error)}.`);
  }
}

const nowSec = (): number => Math.floor(Date.now() / 1000);
