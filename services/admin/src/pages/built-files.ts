import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { hasCode } from '@recordbus/process/system-error';
import { codings } from './content-coding.ts';

/** A built page file, in memory. */
export interface BuiltFile {
  readonly contentType: string;
  readonly etag: string;
  readonly bytes: Buffer;
  /** The compressed bytes, by coding. */
  readonly coded: ReadonlyMap<string, Buffer>;
}

/** The built files by name: the pages and those in `assets`. */
export interface BuiltFiles {
  /** The admin pages. */
  readonly index: BuiltFile;
  /** The API document's page. */
  readonly docs: BuiltFile;
  /** The page where owners manage their webhooks. */
  readonly portal: BuiltFile;
  readonly assets: ReadonlyMap<string, BuiltFile>;
}

/** The pages, or the reason if the build failed. */
export type PagesState =
  | { readonly files: BuiltFiles }
  | { readonly files: undefined; readonly failure: string | undefined };

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Creates a reader for the built pages. It tries again until they exist, and then keeps them. */
export function createBuiltFiles(directory: string | undefined): () => Promise<PagesState> {
  let loaded: Promise<PagesState> | undefined;
  return () => {
    loaded ??= load(directory).then((state) => {
      if (!state.files) loaded = undefined;
      return state;
    });
    return loaded;
  };
}

async function load(directory: string | undefined): Promise<PagesState> {
  if (!directory) return { files: undefined, failure: 'SERVICE_PAGES_DIR is not set.' };
  const index = await readBuiltFile(directory, 'index.html');
  const docs = await readBuiltFile(directory, 'docs.html');
  const portal = await readBuiltFile(directory, 'portal.html');
  if (!index || !docs || !portal)
    return { files: undefined, failure: (await readIfThere(`${directory}.failure`))?.toString() };
  const assets = join(directory, 'assets');
  const names = (await readdir(assets)).filter((name) => extname(name) in contentTypes);
  const files = await Promise.all(names.map(async (name) => [name, await readBuiltFile(assets, name)] as const));
  return {
    files: { index, docs, portal, assets: new Map(files.flatMap(([name, file]) => (file ? [[name, file]] : []))) },
  };
}

async function readBuiltFile(directory: string, name: string): Promise<BuiltFile | undefined> {
  const path = join(directory, name);
  const bytes = await readIfThere(path);
  if (!bytes) return undefined;
  const coded = new Map<string, Buffer>();
  for (const { name: coding, extension } of codings) {
    const content = await readIfThere(`${path}${extension}`);
    if (content) coded.set(coding, content);
  }
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return { contentType: contentTypes[extname(name)] ?? 'application/octet-stream', etag, bytes, coded };
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
