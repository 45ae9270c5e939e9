import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '@recordbus/process/system-error';
import { type FileKey, previewedName } from './file-key.ts';
import { folderOptions } from './local-paths.ts';

/** No key leads into the drafts folder: a key's segment has no leading dot. */
const draftsFolder = '.drafts';

/** A stalled connection is cut after a minute, so no process writes to a draft this old. */
const staleDraftMs = 300_000;

/** How often puts look for killed processes' drafts, at most, in milliseconds. */
const cleaningMs = 600_000;

/** A directory's files that have no name yet. */
export interface Drafts {
  readonly folder: string;
  /** Removes stale drafts in the background, unless it did so recently. */
  cleanSometimes(): void;
}

/** Opens a directory's drafts, and removes stale ones. */
export async function openDrafts(directory: string): Promise<Drafts> {
  const folder = join(directory, draftsFolder);
  await mkdir(folder, folderOptions);
  await removeStaleDrafts(folder);
  let cleanedAtMs = performance.now();
  return {
    folder,
    cleanSometimes() {
      if (performance.now() - cleanedAtMs < cleaningMs) return;
      cleanedAtMs = performance.now();
      // The next one tries again.
      removeStaleDrafts(folder).catch(() => {});
    },
  };
}

/** Removes drafts from processes that were killed while they wrote; active drafts are younger. */
async function removeStaleDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await unlessMissing(stat(path));
    if (found && Date.now() - found.mtimeMs > staleDraftMs) await rm(path, { force: true });
  }
}

/** Returns the common prefix for a file's and its previews' drafts: a hash, since names may have the maximal length. */
export function draftPrefixOf({ segments: [collectionId, recordId, name] }: FileKey): string {
  const file = previewedName(name) ?? name;
  return `${createHash('sha256').update(`${collectionId}/${recordId}/${file}`).digest('hex')}.`;
}
