//go:build race

package trend_test

// histories is the number of simulated histories. The race detector makes them ten times slower.
const histories = 20
