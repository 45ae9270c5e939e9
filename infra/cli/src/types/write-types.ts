import { readFile } from 'node:fs/promises';
import { createClient, RecordbusError } from '@recordbus/client';
import { CommandFailure } from '@recordbus/stack-calls';
import { typesDocument } from '@recordbus/typescript-types';
import type { TargetOptions } from '../api/target-options.ts';
import { exitCodes } from '../exit-codes.ts';
import { type CommandParts, tokenAdvice } from '../run-command.ts';
import { standardStream } from '../standard-stream.ts';
import { writeFileAtomically } from '../write-file-atomically.ts';

export interface TypesOptions extends TargetOptions {
  readonly check?: boolean;
}

/** Writes the collections' types to a file or to standard output, or checks the file. */
export async function writeTypes(
  parts: CommandParts,
  file: string,
  { url, key, check = false }: TypesOptions,
): Promise<number> {
  const document = url === undefined ? await ofDeployment(parts) : await ofStack(url, key ?? process.env.SERVICE_KEY);
  if (check) return checkFile(file, document);
  if (file === standardStream) process.stdout.write(document);
  else await writeFileAtomically(file, document);
  return exitCodes.done;
}

/** Loads the services' code, which `--url` does not need. */
async function ofDeployment(parts: CommandParts): Promise<string> {
  const [{ openDeployment }, { exportSnapshot }] = await Promise.all([
    import('../deployment/open-deployment.ts'),
    import('@recordbus/admin'),
  ]);
  const { database } = await openDeployment(parts);
  const { collections } = await exportSnapshot(database, Math.floor(Date.now() / 1000));
  return typesDocument(collections.map(({ name, type, fields }) => ({ name, type, fields: JSON.parse(fields) })));
}

async function ofStack(url: string, token: string | undefined): Promise<string> {
  if (!token) throw new CommandFailure('--url needs --key, or SERVICE_KEY: an admin token or a service key.');
  const client = createClient(url, { token });
  try {
    return typesDocument(await client.admin.collections.list(), await client.openapi());
  } catch (error) {
    if (!(error instanceof RecordbusError)) throw error;
    const advice = error.status === 401 ? `: ${tokenAdvice}` : '';
    throw new CommandFailure(`${url} refuses: ${error.message}${advice}`);
  }
}

async function checkFile(file: string, document: string): Promise<number> {
  if (file === standardStream) throw new CommandFailure('--check needs the file to check.');
  const written = await readFile(file, 'utf8').catch(() => undefined);
  if (written === document) return exitCodes.done;
  throw new CommandFailure(`${file} is not up to date: run types ${file} again.`);
}
