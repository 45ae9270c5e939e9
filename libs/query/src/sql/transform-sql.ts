import type { ValueKind } from '@recordbus/schema';
import type { Transform } from '../resolve/resolved.ts';

/** Compiles a stored value's length or distance; null where there is none. */
export function transformSql(stored: string, kind: ValueKind, transform: Transform): string {
  if (transform.to === 'distance') return distanceSql(stored, transform);
  if (kind === 'text') return `char_length(${stored})`;
  if (kind === 'list') return `jsonb_array_length(coalesce(${stored}, '[]'))`;
  return `(case jsonb_typeof(${stored}) when 'array' then jsonb_array_length(${stored}) when 'string' then char_length(${stored} #>> '{}') end)`;
}

/** The earth's mean radius. */
const earthRadiusKm = 6371.0088;

/**
 * The haversine formula. PostgreSQL refuses results that are too small for a double, so degrees are first rounded, by
 * adding and subtracting a larger number, to steps below a micrometer.
 */
function distanceSql(point: string, { lat, lng }: Extract<Transform, { to: 'distance' }>): string {
  const rounded = (key: 'lat' | 'lng') => `((${point} ->> '${key}')::double precision + 1024 - 1024)`;
  const sine = (key: 'lat' | 'lng', degrees: number) =>
    `power(sin(radians(${rounded(key)} - ${literal(degrees)}) / 2), 2)`;
  const cosines = `cos(radians(${literal(lat)})) * cos(radians(${rounded('lat')}))`;
  const haversine = `${sine('lat', lat)} + ${cosines} * ${sine('lng', lng)}`;
  // `least` ignores nulls.
  return `(case when ${point} is not null then ${2 * earthRadiusKm} * asin(least(1, sqrt(${haversine}))) end)`;
}

const literal = (degrees: number): string => `(${degrees + 1024 - 1024})::double precision`;
