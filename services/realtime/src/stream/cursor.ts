/** A position in the stream: everything up to this sequence number has been seen. */
export interface Cursor {
  /** Names one life of the stream. A new life begins when it is created again, or has lost its last messages. */
  readonly epoch: string;
  readonly seq: number;
}

/** A cursor's text: `<epoch>-<sequence>` (realtime §4.1). */
export const formatCursor = ({ epoch, seq }: Cursor): string => `${epoch}-${seq}`;

/** Parses a cursor's text; undefined for any other text. */
export function readCursor(text: string): Cursor | undefined {
  const match = /^([0-9]{1,16})-([0-9]{1,15})$/.exec(text);
  return match?.[1] && match[2] ? { epoch: match[1], seq: Number(match[2]) } : undefined;
}
