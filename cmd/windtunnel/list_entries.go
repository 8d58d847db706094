package main

import (
	"windtunnel.dev/adapters"
	casereport "windtunnel.dev/sim/behave/report"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/traffic"
)

func listScenarios() ([]entry, error) {
	all, err := scenarios([]string{scenarioFolder}, "", loadScenario)
	if err != nil {
		return nil, err
	}
	var found []entry
	for _, s := range all {
		found = append(found, entry{s.Name, s.Tier, s.File, s.Summary})
	}
	return found, nil
}

func listCases() ([]entry, error) {
	all, err := loadCases([]string{caseFolder})
	if err != nil {
		return nil, err
	}
	var found []entry
	for _, c := range all {
		found = append(found, entry{c.Name, casereport.Topic(c.Name), c.File, c.Summary})
	}
	return found, nil
}

func listLanes() ([]entry, error) {
	var all []entry
	for _, name := range traffic.Lanes() {
		all = append(all, entry{Name: name, Kind: traffic.ListenerOf(name).String(), What: traffic.DocOf(name)})
	}
	return all, nil
}

func listFaults() ([]entry, error) {
	var all []entry
	for _, f := range fault.All() {
		lasts := "no"
		if f.Lasts {
			lasts = "yes"
		}
		all = append(all, entry{Name: f.Name, Kind: lasts, What: f.Doc})
	}
	return all, nil
}

func listFigures() ([]entry, error) {
	var all []entry
	for _, f := range measure.Figures() {
		all = append(all, entry{Name: f.Name, Kind: string(f.Kind), What: f.Doc})
	}
	return all, nil
}

func listDrivers() ([]entry, error) {
	var all []entry
	for _, d := range drivers {
		all = append(all, entry{Name: d.name, What: d.where})
	}
	return all, nil
}

func listAdapters() ([]entry, error) {
	var all []entry
	for _, a := range adapters.All() {
		all = append(all, entry{Name: a.Name, Kind: a.Processes.Workers, File: a.File, What: a.Summary})
	}
	return all, nil
}
