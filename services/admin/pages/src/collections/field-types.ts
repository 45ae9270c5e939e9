/** An option's control. */
type OptionKind = 'number' | 'check' | 'lines' | 'text' | 'choice';

export interface FieldOption {
  readonly name: string;
  readonly label: string;
  readonly kind: OptionKind;
  readonly hint?: string;
  /** Each value, and what it does in words. */
  readonly choices?: readonly (readonly [value: string, words: string])[];
}

export interface FieldKind {
  readonly type: string;
  /** Describes the values, to help choose a type. */
  readonly about: string;
  readonly options: readonly FieldOption[];
}

const number = (name: string, label: string, hint?: string): FieldOption => ({
  name,
  label,
  kind: 'number',
  ...(hint && { hint }),
});
const check = (name: string, label: string, hint?: string): FieldOption => ({
  name,
  label,
  kind: 'check',
  ...(hint && { hint }),
});
const lines = (name: string, label: string, hint: string): FieldOption => ({ name, label, kind: 'lines', hint });

const unique = check('unique', 'Unique', 'No two records can have the same value.');
const encrypted = check('encrypted', 'Encrypted', 'Stored encrypted. Cannot be filtered or sorted.');
const multiple = check('multiple', 'Multiple values');
const lengths = [number('min', 'Min length', 'Characters'), number('max', 'Max length', 'Characters')];

/** Field types with their options (fields §3). */
export const fieldKinds: readonly FieldKind[] = [
  {
    type: 'text',
    about: 'Plain text',
    options: [
      ...lengths,
      { name: 'pattern', label: 'Pattern', kind: 'text', hint: 'Regular expression (RE2)' },
      unique,
      check('ignoreCase', 'Ignore case', 'Unique values that differ only in case count as the same.'),
      encrypted,
    ],
  },
  {
    type: 'number',
    about: 'Integer or decimal',
    options: [number('min', 'Min'), number('max', 'Max'), check('integer', 'Whole numbers only'), unique],
  },
  { type: 'bool', about: 'True or false', options: [] },
  { type: 'date', about: 'Date and time', options: [] },
  {
    type: 'select',
    about: 'One or more values from a list',
    options: [lines('values', 'Values', 'One per line'), multiple, number('max', 'Max values', '0 means no limit')],
  },
  {
    type: 'relation',
    about: 'Reference to other records',
    options: [
      {
        name: 'cascade',
        label: 'When the target is deleted',
        kind: 'choice',
        choices: [
          ['setNull', 'setNull: clear the relation'],
          ['cascade', 'cascade: delete this record too'],
          ['restrict', 'restrict: refuse the delete'],
          ['restrictLast', 'restrictLast: remove it from the list, but refuse for the last one'],
        ],
      },
      multiple,
      number('max', 'Max records', '0 means no limit'),
    ],
  },
  {
    type: 'file',
    about: 'Uploaded files',
    options: [
      number('maxSize', 'Max size', 'Bytes. 0 means no limit.'),
      lines('mimeTypes', 'Content types', 'One per line, such as image/*. Leave empty to accept all.'),
      lines('thumbs', 'Thumbnail sizes', 'One per line, such as 200x200'),
      multiple,
      number('max', 'Max files', '0 means no limit'),
      check('public', 'Public', "Everyone with a file's address can download it, whatever the rules."),
      check('protected', 'Protected', 'Downloads need a file token.'),
      check('requireAuth', 'Require sign-in'),
      check('oneTimeToken', 'One-time tokens'),
      check('bindTokenIp', 'Bind tokens to an IP address'),
      check('auditDownloads', 'Audit downloads'),
    ],
  },
  { type: 'json', about: 'Any JSON', options: [encrypted] },
  { type: 'editor', about: 'Rich text (HTML)', options: [number('max', 'Max length', 'Characters')] },
  { type: 'email', about: 'Email address', options: [...lengths, unique, encrypted] },
  { type: 'url', about: 'Web address', options: [...lengths, unique, encrypted] },
  { type: 'password', about: 'Hashed, never shown', options: lengths },
  { type: 'geoPoint', about: 'Latitude and longitude', options: [] },
  { type: 'vector', about: 'Embedding for similarity search', options: [number('dimensions', 'Dimensions')] },
  { type: 'autodate', about: 'Time set by the server', options: [] },
];

/** Returns a type's kind. */
export const kindOf = (type: string): FieldKind | undefined => fieldKinds.find((kind) => kind.type === type);
