const proofs = 'Proofs that PocketBase has mailed are invalid after a move.';
const passwords = 'Passwords sign in to every auth collection.';
const ids = 'An id may have any length.';
const length = '`:length` of the files of several related records is not a filter here.';
const managers = 'The collection has a manage rule, which the move leaves out: a server does it with a service key.';
const lists = 'A required list of relations keeps each of its records from being deleted.';
const oneAfterTheOther = 'A relation to nothing is named once everything else is right.';

/** Why scenarios of PocketBase's own tests are answered otherwise here, by their ids. */
export const differing: Readonly<Record<string, string>> = {
  'TestBatchRequest 11': lists,
  'TestFileDownload 22': 'A file has an address at its own collection, and none at a view.',
  'TestHealthAPI 3': 'Superusers get no more than others: backups are in the admin pages.',
  'TestRecordRequestEmailChange 7': "Another account's address is not revealed: 204, and no mail.",
  'TestRecordAuthMethodsList 3': passwords,
  'TestRecordAuthMethodsList 4': 'A second factor belongs to an account, not to a collection.',
  'TestRecordConfirmPasswordReset 3': 'Passwords that do not match are refused before the proof is read.',
  'TestRecordRequestPasswordReset 4': passwords,
  'TestRecordAuthRefresh 7': 'An account that the sign-in rule refuses has no session: 401.',
  'TestRecordConfirmVerification 9': proofs,
  'TestRecordAuthWithOAuth2 1': 'Providers are for all auth collections.',
  'TestRecordAuthWithPassword 1': passwords,
  'TestRecordAuthWithPassword 14': 'A second factor belongs to an account, not to a collection.',
  'TestRecordCrudList 19': length,
  'TestRecordCrudList 20': length,
  'TestRecordCrudList 21': length,
  'TestRecordCrudDelete 15': lists,
  'TestRecordCrudCreate 18': ids,
  'TestRecordCrudCreate 19': ids,
  'TestRecordCrudCreate 22': 'Accounts in two collections may have the same id.',
  'TestRecordCrudCreate 26': oneAfterTheOther,
  'TestRecordCrudCreate 30': managers,
  'TestRecordCrudUpdate 21': 'A rule reads `total+` as it was sent, and not the sum.',
  'TestRecordCrudUpdate 23': oneAfterTheOther,
  'TestRecordCrudUpdate 26': 'An empty address leaves the address as it is, since clients send records back.',
  'TestRecordCrudUpdate 27': managers,
};
