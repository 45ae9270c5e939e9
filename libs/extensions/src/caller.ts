/** The caller, from the request's token. */
export type Caller =
  | { readonly type: 'guest' }
  | {
      readonly type: 'user';
      readonly id: string;
      readonly email: string;
      readonly collection: string;
      readonly anonymous: boolean;
      /** The id of the admin who acts as this user; null otherwise. */
      readonly impersonatedBy: string | null;
    }
  | { readonly type: 'admin'; readonly id: string; readonly email: string }
  /** A service key; `id` is the key's id. */
  | { readonly type: 'service'; readonly id: string; readonly scopes: readonly string[] };
