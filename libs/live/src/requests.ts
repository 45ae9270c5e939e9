/** What a subscription follows, as its client wrote it (realtime §2). */
export interface LiveRequest {
  readonly collection: string;
  /** The id of the one record that is followed. Then `view_rule` decides, else `list_rule`. */
  readonly record?: string | undefined;
  readonly filter?: string | undefined;
  readonly expand?: string | undefined;
  readonly fields?: string | undefined;
}

/** The first state that a subscription wants: a page of the list, or its record. */
export interface SnapshotRequest extends LiveRequest {
  readonly page?: number | undefined;
  readonly perPage?: number | undefined;
  readonly sort?: string | undefined;
}
