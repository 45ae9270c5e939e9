/** How an option of a field is edited. */
type OptionKind = 'number' | 'check' | 'words' | 'text' | 'choice';

export interface FieldOption {
  readonly name: string;
  readonly label: string;
  readonly kind: OptionKind;
  readonly hint?: string;
  readonly choices?: readonly string[];
}

export interface FieldKind {
  readonly type: string;
  /** What its values are, for who chooses a type. */
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
const words = (name: string, label: string, hint: string): FieldOption => ({ name, label, kind: 'words', hint });

const unique = check('unique', 'Unique', 'No two records have the same value.');
const encrypted = check('encrypted', 'Encrypted', 'Stored encrypted; no filters, no sorts.');
const multiple = check('multiple', 'Several values');
const lengths = [number('min', 'Shortest', 'characters'), number('max', 'Longest', 'characters')];

/** The types of fields with their options (fields §3). */
export const fieldKinds: readonly FieldKind[] = [
  {
    type: 'text',
    about: 'Words, names, codes',
    options: [
      ...lengths,
      { name: 'pattern', label: 'Pattern', kind: 'text', hint: 'A regular expression (RE2)' },
      unique,
      encrypted,
    ],
  },
  { type: 'number', about: 'A number', options: [number('min', 'Least'), number('max', 'Most'), unique] },
  { type: 'bool', about: 'Yes or no', options: [] },
  { type: 'date', about: 'A moment', options: [] },
  {
    type: 'select',
    about: 'One or more of given words',
    options: [words('values', 'Values', 'One on each line'), multiple],
  },
  {
    type: 'relation',
    about: 'Records of a collection',
    options: [
      {
        name: 'cascade',
        label: 'When the other record is deleted',
        kind: 'choice',
        choices: ['setNull', 'cascade', 'restrict'],
      },
      multiple,
      number('max', 'Most records', '0 is no limit'),
    ],
  },
  {
    type: 'file',
    about: 'Uploads',
    options: [
      number('maxSize', 'Largest size', 'bytes; 0 is no limit'),
      words('mimeTypes', 'Types', 'One on each line, such as image/*; none accepts all'),
      words('thumbs', 'Previews', 'One size on each line, such as 200x200'),
      multiple,
      check('protected', 'Protected', 'A link needs a token.'),
      check('requireAuth', 'Only for signed-in callers'),
      check('oneTimeToken', 'A token works once'),
      check('bindTokenIp', 'A token works from one address'),
      check('auditDownloads', 'Downloads are audited'),
    ],
  },
  { type: 'json', about: 'Any JSON value', options: [encrypted] },
  { type: 'editor', about: 'HTML', options: [number('max', 'Longest', 'characters')] },
  { type: 'email', about: 'An email address', options: [...lengths, unique, encrypted] },
  { type: 'url', about: 'An address of the web', options: [...lengths, unique, encrypted] },
  { type: 'password', about: 'A secret that is never shown', options: lengths },
  { type: 'geoPoint', about: 'A place on the earth', options: [] },
  { type: 'vector', about: 'Numbers for a search by nearness', options: [number('dimensions', 'Dimensions')] },
  { type: 'autodate', about: 'A moment that the server sets', options: [] },
];

/** Returns the kind of a type. */
export const kindOf = (type: string): FieldKind | undefined => fieldKinds.find((kind) => kind.type === type);
