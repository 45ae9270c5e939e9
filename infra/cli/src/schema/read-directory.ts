import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFailure, isSystemError } from '@recordbus/stack-calls';
import { createFileProblems, type FileProblems } from './file-problems.ts';
import { readJsonLines } from './json-lines.ts';
import { withoutJsonSchema } from './json-schemas.ts';
import { JsonProblem } from './json-tokens.ts';
import { loadDefinition } from './load-definition.ts';
import { joinSettings, type MailText, mailFolder, readMailText } from './mail-files.ts';
import { isMembers, type Members, type SchemaDocument } from './schema-target.ts';
import { findLinesOf } from './source-lines.ts';

/** The schema files in a directory, and where each value in the document is. */
export interface SchemaDirectory {
  readonly document: SchemaDocument;
  /** Returns the file and line for a place that the stack names, such as `collections.posts.fields.title.type`. */
  locate(place: string): { readonly file: string; readonly line: number | undefined } | undefined;
}

interface ReadFile {
  readonly file: string;
  readonly value: Members;
  lineOf(path: readonly string[]): number | undefined;
}

/** Larger than any schema file that the stack accepts. */
const maxBytes = 8 * 1024 * 1024;

/** Reads a directory's schema files. Throws a refusal that names each wrong file with its line. */
export async function readDirectory(directory: string): Promise<SchemaDirectory> {
  const problems = createFileProblems();
  const read = (folder: string) => readFolder(join(directory, folder), problems);
  await refuseMissing(directory);
  const collections = await read('collections');
  const webhooks = await read('webhooks');
  const settings = await readSettings(join(directory, 'settings.json'), problems);
  const mailTexts = await readMailTexts(join(directory, mailFolder), problems);
  const allSettings = joinSettings(settings?.value, mailTexts, problems);
  const migrations = await readMigrations(join(directory, 'migrations'), problems);
  for (const { name, file, value, lineOf } of collections ?? [])
    if (value.name !== name)
      problems.add(file, lineOf(['name']), `has the name ${JSON.stringify(value.name)}, but the file is named ${name}`);
  problems.throwIfAny();
  const files: Files = { collections: collections ?? [], webhooks: webhooks ?? [], settings, mailTexts, migrations };
  return {
    document: {
      version: 1,
      collections: files.collections.map(({ value }) => value),
      ...(webhooks && { webhooks: webhooks.map(({ value }) => value) }),
      ...(allSettings && { settings: allSettings }),
      migrations: migrations.map(({ name, sql }) => ({ name, sql })),
    },
    locate: (place) => locate(place, files),
  };
}

async function refuseMissing(directory: string): Promise<void> {
  const found = await lstat(join(directory, 'collections')).catch(() => undefined);
  // An empty directory would drop every collection.
  if (!found?.isDirectory())
    throw new CommandFailure(
      `${directory} is not a schema directory: it has no folder collections. Run schema pull first.`,
    );
}

interface NamedFile extends ReadFile {
  readonly name: string;
}

/** Reads a folder's definitions; undefined without the folder. */
async function readFolder(folder: string, problems: FileProblems): Promise<NamedFile[] | undefined> {
  const entries = await listFolder(folder, problems);
  if (!entries) return undefined;
  const files: NamedFile[] = [];
  const names = new Set<string>();
  for (const entry of entries) {
    const file = join(folder, entry);
    const [, name = '', kind] = /^(.+?)\.(json|ts)$/.exec(entry) ?? [];
    if (kind === undefined || /\.(d|test)$/.test(name)) {
      problems.add(file, undefined, 'is not a schema file: its name must end in .json or .ts');
      continue;
    }
    if (names.has(name)) problems.add(file, undefined, `is the second file for ${name}`);
    names.add(name);
    const read = kind === 'json' ? await readJson(file, problems) : await readDefinition(file, problems);
    if (read) files.push({ name, ...read });
  }
  return files;
}

/** Lists a folder, sorted; undefined without it. Names that begin with a dot, and README.md, are left out. */
async function listFolder(folder: string, problems: FileProblems): Promise<string[] | undefined> {
  const found = await lstat(folder).catch(() => undefined);
  if (!found) return undefined;
  if (!found.isDirectory()) {
    problems.add(folder, undefined, found.isSymbolicLink() ? 'is a symbolic link' : 'is not a directory');
    return undefined;
  }
  const entries = await readdir(folder);
  return entries.filter((entry) => !entry.startsWith('.') && entry !== 'README.md').sort();
}

async function readJson(file: string, problems: FileProblems): Promise<ReadFile | undefined> {
  const text = await readText(file, problems);
  if (text === undefined) return undefined;
  try {
    const { value, lineOf } = readJsonLines(text);
    if (isMembers(value)) return { file, value: withoutJsonSchema(value), lineOf };
    problems.add(file, 1, 'must be an object');
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    problems.add(file, error.line, error.message);
  }
  return undefined;
}

async function readDefinition(file: string, problems: FileProblems): Promise<ReadFile | undefined> {
  // Checks it like other files, before its code runs.
  const source = await readText(file, problems);
  if (source === undefined) return undefined;
  const loaded = await loadDefinition(file);
  if ('value' in loaded && isMembers(loaded.value)) return { file, value: loaded.value, lineOf: findLinesOf(source) };
  if ('problem' in loaded) problems.add(file, loaded.line, loaded.problem);
  else problems.add(file, 1, 'must export `collection`, made by defineCollection');
  return undefined;
}

/** Reads a regular file. Links are refused, because they may lead outside the directory. */
async function readText(file: string, problems: FileProblems): Promise<string | undefined> {
  try {
    const found = await lstat(file);
    if (found.isSymbolicLink()) problems.add(file, undefined, 'is a symbolic link');
    else if (!found.isFile()) problems.add(file, undefined, 'is not a file');
    else if (found.size > maxBytes) problems.add(file, undefined, `has more than ${maxBytes} bytes`);
    else return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof TypeError) problems.add(file, undefined, 'is not UTF-8 text');
    else if (isSystemError(error)) problems.add(file, undefined, `cannot be read: ${error.message}`);
    else throw error;
  }
  return undefined;
}

async function readSettings(file: string, problems: FileProblems): Promise<ReadFile | undefined> {
  return (await lstat(file).catch(() => undefined)) ? readJson(file, problems) : undefined;
}

/** Reads the mails' texts. */
async function readMailTexts(folder: string, problems: FileProblems): Promise<MailText[]> {
  const texts: MailText[] = [];
  for (const entry of (await listFolder(folder, problems)) ?? []) {
    const file = join(folder, entry);
    const content = await readText(file, problems);
    if (content === undefined) continue;
    const text = readMailText(entry, file, content);
    if (text) texts.push(text);
    else problems.add(file, undefined, 'is not named like verify.subject.txt, verify.body.html or verify.body.de.html');
  }
  return texts;
}

interface MigrationFile {
  readonly file: string;
  readonly name: string;
  readonly sql: string;
}

async function readMigrations(folder: string, problems: FileProblems): Promise<MigrationFile[]> {
  const migrations: MigrationFile[] = [];
  for (const entry of (await listFolder(folder, problems)) ?? []) {
    const file = join(folder, entry);
    const [, name] = /^([0-9]{1,9}-[A-Za-z0-9][A-Za-z0-9_-]{0,99})\.sql$/.exec(entry) ?? [];
    if (name === undefined) {
      problems.add(file, undefined, 'is not named <number>-<name>.sql');
      continue;
    }
    const sql = await readText(file, problems);
    if (sql !== undefined) migrations.push({ file, name, sql });
  }
  return migrations;
}

interface Files {
  readonly collections: readonly NamedFile[];
  readonly webhooks: readonly NamedFile[];
  readonly settings: ReadFile | undefined;
  readonly mailTexts: readonly MailText[];
  readonly migrations: readonly MigrationFile[];
}

function locate(place: string, { collections, webhooks, settings, mailTexts, migrations }: Files) {
  const [kind = '', ...rest] = place.split('.');
  const mailText = kind === 'settings' ? mailTexts.find(({ key }) => key === rest.join('.')) : undefined;
  if (mailText) return { file: mailText.file, line: undefined };
  if (kind === 'settings' && settings) return { file: settings.file, line: settings.lineOf([rest.join('.')]) };
  if (kind === 'migrations') {
    const found = migrations.find(({ name }) => name === rest.join('.'));
    return found && { file: found.file, line: undefined };
  }
  // Webhook names may have dots.
  const files = kind === 'collections' ? collections : kind === 'webhooks' ? webhooks : [];
  const text = rest.join('.');
  const named = files
    .filter(({ value: { name } }) => typeof name === 'string' && (text === name || text.startsWith(`${name}.`)))
    .sort((a, b) => String(b.value.name).length - String(a.value.name).length)[0];
  const found = named ?? files[Number(rest[0])];
  if (!found) return undefined;
  const path = named ? text.slice(String(named.value.name).length + 1).split('.') : rest.slice(1);
  return { file: found.file, line: found.lineOf(path) };
}
