/** Who called, as their token says. */
export type Caller =
  | { readonly type: 'guest' }
  | {
      readonly type: 'user';
      readonly id: string;
      readonly email: string;
      readonly collection: string;
      readonly anonymous: boolean;
      /** The admin who acts as this user; null for the user themselves. */
      readonly impersonatedBy: string | null;
    }
  | { readonly type: 'admin'; readonly id: string; readonly email: string };
