import { toJsonSchema } from '@recordbus/http/answers';
import { z } from 'zod';
import { type FieldType, ValueRefusal } from '../field-type.ts';
import { jsonText } from './form-text.ts';

const options = z.strictObject({});

const point = z.strictObject({ lat: z.number().min(-90).max(90), lng: z.number().min(-180).max(180) });

/** A point on the earth, in degrees. */
export const geoPoint: FieldType = {
  name: 'geoPoint',
  reference: 'fields §3.13',
  options,
  samples: [{ values: [{ lat: 48.2, lng: 16.4 }] }],
  emptyTextIsNull: true,
  columnType: () => 'jsonb',
  filterKind: () => 'json',
  viewType: 'geoPoint',
  formText: () => jsonText,
  valueSchema: () => toJsonSchema(point, 'output'),
  compile: () => (value) => {
    const read = point.safeParse(value);
    return read.success
      ? JSON.stringify(read.data)
      : new ValueRefusal('must be {lat, lng} with lat from -90 to 90 and lng from -180 to 180');
  },
};
