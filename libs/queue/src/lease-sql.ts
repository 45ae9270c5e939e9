/** SQL: when a lease ends that begins now and lasts some seconds (SQL). */
export const leaseEnd = (seconds: string | number): string => `clock_timestamp() + make_interval(secs => ${seconds})`;

/** SQL: whether nobody holds a row: it has no lease, or its lease has expired. */
export const isFree = (row: string): string => `(${row}.lease_until is null or ${row}.lease_until <= now())`;
