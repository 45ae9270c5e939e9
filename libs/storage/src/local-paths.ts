import { join } from 'node:path';
import type { FileKey } from './file-key.ts';

/** How folders are created. The mode keeps other users of the machine from listing the names of files. */
export const folderOptions = { recursive: true, mode: 0o700 } as const;

/** The path of a file below the directory of a local storage. */
export const pathOf = (directory: string, { segments }: FileKey): string => join(directory, ...segments);
