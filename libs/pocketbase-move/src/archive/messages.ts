import type { ApiAddress } from '@recordbus/stack-calls';
import type { MoveResult } from '../move-in.ts';
import type { MoveOptions } from '../options.ts';

/** The order that a move's process gets, once. */
export interface ArchiveMove
  extends Pick<MoveOptions, 'dryRun' | 'only' | 'map' | 'events' | 'views' | 'sessions' | 'isContinued'> {
  /** The folder with `backup.zip`, which gets what is unpacked, and the notes. */
  readonly folder: string;
  readonly address: ApiAddress;
  /** How many bytes the unpacked backup may have. */
  readonly maxBytes: number;
}

/** What a move's process says. `failed` has a sentence, and nothing helps but another backup or other options. */
export type FromMove =
  | { readonly kind: 'progress'; readonly text: string; readonly part: number | undefined }
  | ({ readonly kind: 'done' } & MoveResult)
  | { readonly kind: 'failed'; readonly message: string; readonly mayRetry: boolean };
