import type { IconName } from '../ui/icons.ts';

const typeIcons: Readonly<Record<string, IconName>> = {
  text: 'text',
  editor: 'richText',
  number: 'number',
  bool: 'check',
  date: 'calendar',
  autodate: 'history',
  select: 'choices',
  relation: 'relation',
  file: 'clip',
  json: 'braces',
  email: 'at',
  url: 'link',
  password: 'key',
  geoPoint: 'pin',
  vector: 'events',
};

/** Returns a field type's icon. */
export const iconOf = (type: string): IconName => typeIcons[type] ?? 'text';
