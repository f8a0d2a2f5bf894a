/** The drivers that there are now. Those of hosts elsewhere come when they are enrolled and go when they are removed. */
import type { SessionKind } from "../domain/session.ts";
import type { SessionDriver } from "./ports.ts";

type DriverListener = (driver: SessionDriver) => void;

export class DriverTable {
  #drivers: readonly SessionDriver[] = [];
  readonly #added: DriverListener[] = [];
  readonly #removed: DriverListener[] = [];

  constructor(drivers: readonly SessionDriver[]) {
    for (const driver of drivers) this.add(driver);
  }

  get all(): readonly SessionDriver[] {
    return this.#drivers;
  }

  find(kind: SessionKind, hostId: string): SessionDriver | undefined {
    return this.#drivers.find((it) => it.kind === kind && it.hostId === hostId);
  }

  add(driver: SessionDriver): void {
    this.#drivers = [...this.#drivers, driver];
    for (const listener of this.#added) listener(driver);
  }

  remove(driver: SessionDriver): void {
    this.#drivers = this.#drivers.filter((it) => it !== driver);
    for (const listener of this.#removed) listener(driver);
  }

  /** Called for each that is there, and for each that comes. */
  forEach(listener: DriverListener): void {
    for (const driver of this.#drivers) listener(driver);
    this.#added.push(listener);
  }

  onRemove(listener: DriverListener): void {
    this.#removed.push(listener);
  }
}
