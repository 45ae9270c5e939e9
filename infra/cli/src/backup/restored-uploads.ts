import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '@recordbus/shared/config';
import { openLocalStorage, openStorage, type Storage, type storageVariables } from '@recordbus/storage';

/**
 * Files on their way to where the services look for them. Keys are written once, so the files of before and those of an
 * archive stand side by side while nobody can know which of them the database names: cut off at any moment, a restore
 * leaves files that no record names, and never a record without its file.
 */
export interface RestoredUploads {
  /** Takes the files of the archive; nothing looks for them there. */
  readonly storage: Storage;
  /** Puts them among those that are there. */
  settle(): Promise<void>;
  /** Takes them away again. */
  undo(): Promise<void>;
  /** Removes what the archive does not have. */
  tidy(): Promise<void>;
}

/** Opens the place of uploaded files for a restore. What an earlier one left unfinished is removed. */
export async function openRestoredUploads(config: Config<typeof storageVariables>): Promise<RestoredUploads> {
  const nothing = async (): Promise<void> => {};
  // What a store of its own holds already is what the archive has, and may be in it for others.
  if (config.storageUrl !== undefined)
    return { storage: await openStorage(config), settle: nothing, undo: nothing, tidy: nothing };
  const place = join(config.dataDirectory, 'uploads');
  const fresh = `${place}.restoring`;
  const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true });
  await remove(fresh);
  const added: string[] = [];
  return {
    storage: await openLocalStorage(fresh),
    async settle() {
      await mkdir(place, { recursive: true });
      for await (const file of listFiles(fresh)) {
        const path = join(place, file);
        if (!existsSync(path)) added.push(path);
        // What stands there under the same name may be damaged.
        const draft = join(fresh, `${randomUUID()}.link`);
        await link(join(fresh, file), draft);
        await mkdir(dirname(path), { recursive: true });
        await rename(draft, path);
      }
    },
    async undo() {
      for (const path of added) await rm(path, { force: true });
      await remove(fresh);
    },
    async tidy() {
      for await (const file of listFiles(place))
        if (!existsSync(join(fresh, file))) await rm(join(place, file), { force: true });
      await remove(fresh);
    },
  };
}

/** The files of records below a directory, as `<collection id>/<record id>/<name>`; drafts are none. */
async function* listFiles(directory: string): AsyncGenerator<string> {
  for (const collectionId of await listFolders(directory))
    for (const recordId of await listFolders(join(directory, collectionId)))
      for (const name of await readdir(join(directory, collectionId, recordId)))
        yield join(collectionId, recordId, name);
}

async function listFolders(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
}
