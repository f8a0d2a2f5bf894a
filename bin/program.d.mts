export const PROGRAMS: string;
export function program(name: string): string;
export function builtProgram(): string;
