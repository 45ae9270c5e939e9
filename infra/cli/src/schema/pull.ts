import { lstat, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { FileKind } from '@recordbus/admin/file-schemas';
import { CommandFailure } from '@recordbus/stack-calls';
import type { TargetOptions } from '../api/target-options.ts';
import type { CommandParts } from '../run-command.ts';
import { writeFileAtomically } from '../write-file-atomically.ts';
import { keepFormerNames, withoutFormerNames } from './former-names.ts';
import { jsonSchemaFiles, jsonSchemaFolder, withJsonSchema } from './json-schemas.ts';
import { keepVariables } from './keep-variables.ts';
import { loadDefinition } from './load-definition.ts';
import { isMailFile, mailFolder, splitSettings } from './mail-files.ts';
import { isMembers, type Members, openTarget, type SchemaDocument } from './schema-target.ts';
import { fileNamesOf } from './webhook-file-names.ts';

/** Writes the stack's schema into files. Removes files for collections, webhooks and mails' texts that the stack lacks. */
export async function pull(parts: CommandParts, directory: string, options: TargetOptions): Promise<undefined> {
  const target = await openTarget(parts, options);
  const schema = await target.read();
  refuseNames(schema);
  const written: string[] = [];
  const removed: string[] = [];
  const write = async (file: string, text: string) => {
    const path = join(directory, file);
    if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return;
    await writeFileAtomically(path, text);
    written.push(file);
  };
  await makeFolder(directory);
  const writeFile = async (file: string, kind: FileKind, value: Members) => {
    const before = await readMembers(join(directory, file));
    const kept = keepVariables(value, before);
    const named = kind === 'collection' ? keepFormerNames(kept, before, schema.collections) : kept;
    await write(file, textOf(withJsonSchema(named, kind, before)));
  };
  const writeFolder = async (folder: string, kind: FileKind, files: ReadonlyMap<string, Members>) => {
    await makeFolder(join(directory, folder));
    const entries = await readdir(join(directory, folder));
    for (const entry of entries.filter((name) => name.endsWith('.json') && !files.has(name))) {
      await rm(join(directory, folder, entry));
      removed.push(`${folder}/${entry}`);
    }
    for (const [name, value] of files) await writeFile(`${folder}/${name}`, kind, value);
    // Git keeps no empty folders, and a missing folder means that its subject is not managed by files.
    if (files.size === 0 && entries.every((entry) => entry.endsWith('.json'))) await write(`${folder}/.gitkeep`, '');
  };
  const coded = await findCoded(join(directory, 'collections'), schema, parts);
  await makeFolder(join(directory, jsonSchemaFolder));
  for (const [name, schema] of jsonSchemaFiles()) await write(name, textOf(schema));
  await writeFolder(
    'collections',
    'collection',
    new Map(
      schema.collections.filter(({ name }) => !coded.has(String(name))).map((value) => [`${value.name}.json`, value]),
    ),
  );
  // A key may lack the scope to read them.
  if (schema.webhooks) {
    const known = await filesByName(join(directory, 'webhooks'));
    await writeFolder('webhooks', 'webhook', fileNamesOf(schema.webhooks, known));
  }
  if (schema.settings) {
    const folder = join(directory, mailFolder);
    const mail = (await readdir(folder).catch((): string[] => [])).filter(isMailFile);
    const written = { settings: await readMembers(join(directory, 'settings.json')), mail };
    const { settings, files } = splitSettings(schema.settings, written);
    await writeFile('settings.json', 'settings', settings);
    if (mail.length + files.size > 0) await makeFolder(folder);
    for (const name of mail.filter((one) => !files.has(one))) {
      await rm(join(folder, name));
      removed.push(`${mailFolder}/${name}`);
    }
    for (const [name, text] of files) await write(`${mailFolder}/${name}`, text);
  }
  await writeMigrations(directory, schema, write, parts);
  parts.terminal.report({ written, removed }, report(target.name, written, removed));
}

const textOf = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

function report(target: string, written: readonly string[], removed: readonly string[]): string {
  if (written.length + removed.length === 0) return `The files match ${target}.`;
  return [...written.map((file) => `written: ${file}`), ...removed.map((file) => `removed: ${file}`)].join('\n');
}

/** Names become paths, so they are checked even if a stack sends them. */
function refuseNames({ collections, migrations }: SchemaDocument): void {
  for (const { name } of collections)
    if (typeof name !== 'string' || !/^[A-Za-z][A-Za-z0-9_]{0,62}$/.test(name))
      throw new CommandFailure(`The stack has a collection whose name cannot be a file: ${JSON.stringify(name)}.`);
  for (const { name } of migrations)
    if (!/^[0-9]{1,9}-[A-Za-z0-9][A-Za-z0-9_-]{0,119}$/.test(name))
      throw new CommandFailure(`The stack has a migration whose name cannot be a file: ${JSON.stringify(name)}.`);
}

/** Creates a folder. Refuses a link, which could lead to files elsewhere. */
async function makeFolder(folder: string): Promise<void> {
  const found = await lstat(folder).catch(() => undefined);
  if (found && !found.isDirectory())
    throw new CommandFailure(`${folder} is ${found.isSymbolicLink() ? 'a symbolic link' : 'not a directory'}.`);
  await mkdir(folder, { recursive: true });
}

/** Returns a folder's JSON files by their member `name`. */
async function filesByName(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = (await readdir(folder).catch((): string[] => [])).filter((entry) => entry.endsWith('.json'));
  const found = await Promise.all(
    entries.sort().map(async (entry) => [(await readMembers(join(folder, entry)))?.name, entry] as const),
  );
  return new Map(found.flatMap(([name, entry]) => (typeof name === 'string' ? [[name, entry] as const] : [])));
}

async function readMembers(path: string): Promise<Members | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isMembers(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the collections that TypeScript files define, under the names that the stack has. They are not written, only
 * compared.
 */
async function findCoded(
  folder: string,
  { collections }: SchemaDocument,
  { terminal }: CommandParts,
): Promise<ReadonlySet<string>> {
  const entries = await readdir(folder).catch((): string[] => []);
  const coded = new Set(entries.flatMap((entry) => /^(\w+)\.ts$/.exec(entry)?.[1] ?? []));
  const renamed = new Set<string>();
  const findStored = (name: unknown) => collections.find((collection) => collection.name === name);
  for (const name of coded) {
    const file = join(folder, `${name}.ts`);
    const definition = await loadMembers(file);
    const stored = findStored(name);
    const former = stored ? undefined : findStored(definition?.renamedFrom);
    if (former) renamed.add(String(former.name));
    if (!stored && !former) terminal.note(`${file} is not in the stack.`);
    else if (!definition || !isDeepStrictEqual(withoutFormerNames(definition), stored))
      terminal.note(`${file} may differ from the stack: schema plan shows how.`);
  }
  return new Set([...coded, ...renamed]);
}

async function loadMembers(file: string): Promise<Members | undefined> {
  const loaded = await loadDefinition(file);
  return 'value' in loaded && isMembers(loaded.value) ? loaded.value : undefined;
}

async function writeMigrations(
  directory: string,
  { migrations }: SchemaDocument,
  write: (file: string, text: string) => Promise<void>,
  { terminal }: CommandParts,
): Promise<void> {
  if (migrations.length > 0) await makeFolder(join(directory, 'migrations'));
  for (const { name, sql } of migrations) {
    const file = `migrations/${name}.sql`;
    const found = await readFile(join(directory, file), 'utf8').catch(() => undefined);
    if (found === undefined) await write(file, sql);
    else if (found !== sql) terminal.note(`${file} ran and has changed since.`);
  }
}
