/** The subscription that a client sent (realtime §2). */
export interface LiveRequest {
  readonly collection: string;
  /** The id of a single record to follow. With it `view_rule` decides, without it `list_rule`. */
  readonly record?: string | undefined;
  readonly filter?: string | undefined;
  readonly expand?: string | undefined;
  readonly fields?: string | undefined;
  /** Whether the message about a delete has the record, as for PocketBase's clients, and not only its id. */
  readonly showsDeleted?: true | undefined;
}

/** A subscription's snapshot: a list page, or its record. */
export interface SnapshotRequest extends LiveRequest {
  readonly page?: number | undefined;
  readonly perPage?: number | undefined;
  readonly sort?: string | undefined;
}
